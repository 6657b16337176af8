//! arrow-rs, asked from outside: it writes streams and shuffle blocks of every type, and compares
//! streams that were written by others with its own.
//!
//!   write DIR          for each case DIR/NAME.arrows, where that differs DIR/NAME.plain.arrows
//!                      (dictionaries and runs decoded), and DIR/NAME.CODEC.data, one block
//!   compare < PAIRS    reads lines of two paths: the rows and types of both streams are the same
mod blocks;
mod cases;
mod nested;

use std::collections::HashMap;
use std::fs;
use std::io::BufRead;
use std::path::Path;
use std::process::exit;
use std::sync::Arc;

use arrow_array::{cast::AsArray, ArrayRef, Int64Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take;

type Failure = Box<dyn std::error::Error>;

fn with_row_numbers(columns: &[(String, ArrayRef)], metadata: &[(&str, &str)]) -> RecordBatch {
    let pairs = |of: &[(&str, &str)]| -> HashMap<String, String> {
        of.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    };
    let mut arrays: Vec<ArrayRef> =
        vec![Arc::new(Int64Array::from_iter_values(0..cases::ROWS as i64))];
    let mut fields = vec![Field::new("id", arrays[0].data_type().clone(), false)];
    for (name, array) in columns {
        fields
            .push(Field::new(name, array.data_type().clone(), true).with_metadata(pairs(metadata)));
        arrays.push(array.clone());
    }
    let schema = Schema::new(fields).with_metadata(pairs(metadata));
    RecordBatch::try_new(Arc::new(schema), arrays).expect("columns of one length")
}

fn put(folder: &Path, name: &str, batch: &RecordBatch) -> Result<(), Failure> {
    fs::write(folder.join(format!("{name}.arrows")), blocks::stream(batch)?)?;
    for codec in blocks::CODECS {
        fs::write(folder.join(format!("{name}.{codec}.data")), blocks::block(batch, codec)?)?;
    }
    Ok(())
}

fn put_plain(folder: &Path, name: &str, batch: &RecordBatch) -> Result<(), Failure> {
    Ok(fs::write(folder.join(format!("{name}.plain.arrows")), blocks::stream(batch)?)?)
}

fn write(folder: &Path) -> Result<(), Failure> {
    let mut together = Vec::new();
    for case in cases::all() {
        let column = |array: &ArrayRef| [("c".to_string(), array.clone())];
        put(folder, case.name, &with_row_numbers(&column(&case.array), &[]))?;
        match &case.plain {
            Some(plain) => put_plain(folder, case.name, &with_row_numbers(&column(plain), &[]))?,
            None if case.together => together.push((case.name.to_string(), case.array.clone())),
            None => {}
        }
    }
    put(folder, "together", &with_row_numbers(&together, &[]))?;
    put(folder, "no_columns", &blocks::no_columns(cases::ROWS))?;
    let pairs = [("z", "last"), ("a", "1"), ("ARROW:extension:name", "one.of.ours"), ("é", "")];
    put(folder, "metadata", &with_row_numbers(&together[..2], &pairs))
}

fn read(path: &str) -> Result<(SchemaRef, RecordBatch), Failure> {
    let reader = StreamReader::try_new(fs::File::open(path)?, None)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, ArrowError>>()?;
    for batch in &batches {
        for column in batch.columns() {
            column.to_data().validate_full()?;
        }
    }
    Ok((schema.clone(), concat_batches(&schema, &batches)?))
}

/// A dictionary's rows: whether a null is a key or a value is no difference.
fn looked_up(array: &ArrayRef) -> Result<ArrayRef, Failure> {
    match array.as_any_dictionary_opt() {
        Some(dictionary) => Ok(take(dictionary.values(), dictionary.keys(), None)?),
        None => Ok(array.clone()),
    }
}

fn compare(want_path: &str, got_path: &str) -> Result<(), Failure> {
    let (want_schema, want) = read(want_path)?;
    let (got_schema, got) = read(got_path)?;
    if want_schema != got_schema {
        return Err(format!("schema {got_schema:?}\n  instead of {want_schema:?}").into());
    }
    for (i, field) in want_schema.fields().iter().enumerate() {
        let (theirs, ours) = (looked_up(want.column(i))?, looked_up(got.column(i))?);
        if theirs.as_ref() != ours.as_ref() {
            return Err(format!("{}: {ours:?}\n  instead of {theirs:?}", field.name()).into());
        }
    }
    match want.num_rows() == got.num_rows() {
        true => Ok(()),
        false => Err(format!("{} rows instead of {}", got.num_rows(), want.num_rows()).into()),
    }
}

fn compare_all() -> Result<(), Failure> {
    let mut failed = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (want, got) = line.split_once('\t').ok_or("a line is two paths with a tab between")?;
        if let Err(failure) = compare(want, got) {
            println!("{got}: {failure}");
            failed += 1;
        }
    }
    match failed {
        0 => Ok(()),
        n => Err(format!("{n} streams differ").into()),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["write", folder] => write(Path::new(folder)),
        ["compare"] => compare_all(),
        _ => Err("usage: arrow_rs_interop write DIR | compare".into()),
    };
    if let Err(failure) = done {
        eprintln!("{failure}");
        exit(1);
    }
}
