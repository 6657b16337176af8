//! One column of each flat type, with a null in each third row where the type has nulls.
use std::sync::Arc;

use arrow_array::builder::{BinaryViewBuilder, StringViewBuilder};
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{i256, ArrowNativeType};

use crate::nested;

pub const ROWS: usize = 50;

pub struct Case {
    pub name: &'static str,
    pub array: ArrayRef,
    /// The same with dictionaries and runs decoded, where it has any.
    pub plain: Option<ArrayRef>,
    /// Whether it is a column of the batch of many types.
    pub together: bool,
}

pub fn case(name: &'static str, array: ArrayRef) -> Case {
    Case { name, array, plain: None, together: true }
}

/// Of a type that came to Arrow later: not a column of the batch of many types.
pub fn newer(name: &'static str, array: ArrayRef) -> Case {
    Case { name, array, plain: None, together: false }
}

pub fn encoded(name: &'static str, array: ArrayRef, plain: ArrayRef) -> Case {
    Case { name, array, plain: Some(plain), together: false }
}

pub fn unless_null<T>(i: usize, value: T) -> Option<T> {
    (i % 3 != 2).then_some(value)
}

fn numbers<T: ArrowPrimitiveType>(n: usize) -> PrimitiveArray<T> {
    let number = |i: usize| {
        let step = T::Native::usize_as(i * i + 7 * i);
        step.sub_wrapping(T::Native::usize_as(99))
    };
    (0..n).map(|i| unless_null(i, number(i))).collect()
}

pub fn ints<T: ArrowPrimitiveType>(n: usize) -> ArrayRef {
    Arc::new(numbers::<T>(n))
}

fn decimals<T: DecimalType>(precision: u8, scale: i8) -> ArrayRef {
    let plain = numbers::<T>(ROWS);
    Arc::new(plain.with_precision_and_scale(precision, scale).expect("a precision of the type"))
}

fn stamps<T: ArrowTimestampType>(zone: Option<&str>) -> ArrayRef {
    Arc::new(numbers::<T>(ROWS).with_timezone_opt(zone))
}

pub fn word(i: usize) -> Option<String> {
    let stem =
        ["", "a", "Grüße", "日本", "twelve bytes", "thirteen byte", "a longer one: 木"][i % 7];
    unless_null(i, if i < 7 { stem.to_string() } else { format!("{stem}{i}") })
}

pub fn texts(n: usize) -> ArrayRef {
    Arc::new((0..n).map(word).collect::<StringArray>())
}

fn bytes(i: usize) -> Option<Vec<u8>> {
    word(i).map(|text| [text.as_bytes(), &[0, 255, i as u8]].concat())
}

fn text_view() -> ArrayRef {
    let mut builder = StringViewBuilder::new();
    (0..ROWS).for_each(|i| builder.append_option(word(i)));
    Arc::new(builder.finish())
}

fn binary_view() -> ArrayRef {
    let mut builder = BinaryViewBuilder::new();
    (0..ROWS).for_each(|i| builder.append_option(bytes(i)));
    Arc::new(builder.finish())
}

fn fixed_bytes() -> ArrayRef {
    let values = (0..ROWS).map(|i| unless_null(i, [i as u8; 5]));
    Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 5).expect("of one width"))
}

fn interval<T: ArrowPrimitiveType>(make: impl Fn(usize) -> T::Native) -> ArrayRef {
    let values = (0..ROWS).map(|i| unless_null(i, make(i)));
    Arc::new(values.collect::<PrimitiveArray<T>>())
}

fn integers() -> Vec<Case> {
    vec![
        case("int8", ints::<Int8Type>(ROWS)),
        case("int16", ints::<Int16Type>(ROWS)),
        case("int32", ints::<Int32Type>(ROWS)),
        case("int64", ints::<Int64Type>(ROWS)),
        case("uint8", ints::<UInt8Type>(ROWS)),
        case("uint16", ints::<UInt16Type>(ROWS)),
        case("uint32", ints::<UInt32Type>(ROWS)),
        case("uint64", ints::<UInt64Type>(ROWS)),
    ]
}

fn other_numbers() -> Vec<Case> {
    let wide = (0..ROWS).map(|i| unless_null(i, i256::from_parts(i as u128, -(i as i128))));
    let wide = wide.collect::<Decimal256Array>().with_precision_and_scale(76, 3);
    vec![
        case("null", Arc::new(NullArray::new(ROWS))),
        case(
            "bool",
            Arc::new((0..ROWS).map(|i| unless_null(i, i % 4 == 0)).collect::<BooleanArray>()),
        ),
        case("float16", ints::<Float16Type>(ROWS)),
        case("float32", ints::<Float32Type>(ROWS)),
        case("float64", ints::<Float64Type>(ROWS)),
        case("decimal32", decimals::<Decimal32Type>(9, 2)),
        case("decimal64", decimals::<Decimal64Type>(18, 4)),
        case("decimal128", decimals::<Decimal128Type>(38, 10)),
        case("decimal128_negative_scale", decimals::<Decimal128Type>(7, -2)),
        case("decimal256", Arc::new(wide.expect("a precision of the type"))),
    ]
}

fn times() -> Vec<Case> {
    vec![
        case("date32", ints::<Date32Type>(ROWS)),
        case("date64", interval::<Date64Type>(|i| 86_400_000 * (i as i64 - 9))),
        case("time32_s", interval::<Time32SecondType>(|i| i as i32)),
        case("time32_ms", interval::<Time32MillisecondType>(|i| i as i32)),
        case("time64_us", interval::<Time64MicrosecondType>(|i| i as i64)),
        case("time64_ns", interval::<Time64NanosecondType>(|i| i as i64)),
        case("timestamp_s", stamps::<TimestampSecondType>(None)),
        case("timestamp_ms", stamps::<TimestampMillisecondType>(Some("Europe/Berlin"))),
        case("timestamp_us", stamps::<TimestampMicrosecondType>(Some("UTC"))),
        case("timestamp_ns", stamps::<TimestampNanosecondType>(None)),
        case("duration_s", ints::<DurationSecondType>(ROWS)),
        case("duration_ms", ints::<DurationMillisecondType>(ROWS)),
        case("duration_us", ints::<DurationMicrosecondType>(ROWS)),
        case("duration_ns", ints::<DurationNanosecondType>(ROWS)),
        case("interval_months", interval::<IntervalYearMonthType>(|i| i as i32 - 7)),
        case(
            "interval_days",
            interval::<IntervalDayTimeType>(|i| {
                IntervalDayTimeType::make_value(i as i32 - 7, -3 * i as i32)
            }),
        ),
        case(
            "interval_nanos",
            interval::<IntervalMonthDayNanoType>(|i| {
                IntervalMonthDayNanoType::make_value(i as i32 - 7, 5, -3_000_000_000 * i as i64)
            }),
        ),
    ]
}

fn strings() -> Vec<Case> {
    let rows = || 0..ROWS;
    vec![
        case("utf8", texts(ROWS)),
        case("large_utf8", Arc::new(rows().map(word).collect::<LargeStringArray>())),
        case("binary", Arc::new(rows().map(bytes).collect::<BinaryArray>())),
        case("large_binary", Arc::new(rows().map(bytes).collect::<LargeBinaryArray>())),
        case("fixed_size_binary", fixed_bytes()),
        newer("utf8_view", text_view()),
        newer("binary_view", binary_view()),
    ]
}

pub fn all() -> Vec<Case> {
    [
        integers(),
        other_numbers(),
        times(),
        strings(),
        nested::lists(),
        nested::structs(),
        nested::unions(),
        nested::runs(),
        nested::dictionaries(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
