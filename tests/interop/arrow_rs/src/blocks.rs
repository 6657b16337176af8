//! Streams as Comet lays them into its blocks: through the codec's own writer, behind 20 bytes of
//! header.
use std::io::Write;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::Schema;

use crate::Failure;

pub const CODECS: [&str; 4] = ["none", "lz4", "zstd", "snappy"];

fn write_into<W: Write>(sink: W, batch: &RecordBatch) -> Result<W, Failure> {
    let mut writer = StreamWriter::try_new(sink, &batch.schema())?;
    writer.write(batch)?;
    Ok(writer.into_inner()?)
}

pub fn stream(batch: &RecordBatch) -> Result<Vec<u8>, Failure> {
    write_into(Vec::new(), batch)
}

fn payload(batch: &RecordBatch, codec: &str) -> Result<(&'static [u8; 4], Vec<u8>), Failure> {
    Ok(match codec {
        "none" => (b"NONE", stream(batch)?),
        "lz4" => {
            let encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
            (b"LZ4_", write_into(encoder, batch)?.finish()?)
        }
        "zstd" => {
            let encoder = zstd::Encoder::new(Vec::new(), 1)?;
            (b"ZSTD", write_into(encoder, batch)?.finish()?)
        }
        _ => {
            let encoder = snap::write::FrameEncoder::new(Vec::new());
            let done = write_into(encoder, batch)?.into_inner();
            (b"SNAP", done.map_err(|failure| failure.to_string())?)
        }
    })
}

pub fn block(batch: &RecordBatch, codec: &str) -> Result<Vec<u8>, Failure> {
    let (tag, payload) = payload(batch, codec)?;
    let mut out = (12 + payload.len() as u64).to_le_bytes().to_vec();
    out.extend((batch.num_columns() as u64).to_le_bytes());
    out.extend(tag);
    out.extend(payload);
    Ok(out)
}

pub fn no_columns(rows: usize) -> RecordBatch {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options)
        .expect("rows without columns")
}
