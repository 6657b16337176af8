//! Columns with children and columns with dictionaries.
use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{ArrowNativeType, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, FieldRef, Fields, UnionFields};
use arrow_select::take::take;

use crate::cases::{case, encoded, ints, newer, texts, unless_null, Case, ROWS};

fn item(array: &dyn Array) -> FieldRef {
    Arc::new(Field::new("item", array.data_type().clone(), true))
}

fn field(name: &str, array: &dyn Array, nullable: bool) -> FieldRef {
    Arc::new(Field::new(name, array.data_type().clone(), nullable))
}

fn third_null(n: usize) -> Option<NullBuffer> {
    Some((0..n).map(|i| i % 3 != 2).collect::<Vec<_>>().into())
}

/// Elements of each list: none where it is null.
fn lengths(n: usize) -> impl Iterator<Item = usize> {
    (0..n).map(|i| unless_null(i, i % 5).unwrap_or(0))
}

fn list_of<O: OffsetSizeTrait>(n: usize, make: impl Fn(usize) -> ArrayRef) -> ArrayRef {
    let child = make(lengths(n).sum());
    let offsets = OffsetBuffer::<O>::from_lengths(lengths(n));
    Arc::new(GenericListArray::new(item(&child), offsets, child, third_null(n)))
}

fn list_view_of<O: OffsetSizeTrait>(n: usize, make: impl Fn(usize) -> ArrayRef) -> ArrayRef {
    let child = make(lengths(n).sum());
    let starts = OffsetBuffer::<O>::from_lengths(lengths(n));
    let offsets = ScalarBuffer::from(starts[..n].to_vec());
    let sizes = ScalarBuffer::from(lengths(n).map(O::usize_as).collect::<Vec<_>>());
    Arc::new(GenericListViewArray::new(item(&child), offsets, sizes, child, third_null(n)))
}

fn fixed_list_of(size: usize, make: impl Fn(usize) -> ArrayRef) -> ArrayRef {
    let child = make(size * ROWS);
    Arc::new(FixedSizeListArray::new(item(&child), size as i32, child, third_null(ROWS)))
}

fn struct_of(n: usize, children: Vec<(&str, ArrayRef)>, nulls: Option<NullBuffer>) -> ArrayRef {
    let fields: Fields = children.iter().map(|(name, array)| field(name, array, true)).collect();
    let arrays = children.into_iter().map(|(_, array)| array).collect();
    Arc::new(
        StructArray::try_new_with_length(fields, arrays, nulls, n).expect("children of one length"),
    )
}

fn pair(n: usize) -> ArrayRef {
    struct_of(n, vec![("x", ints::<Int32Type>(n)), ("y", texts(n))], third_null(n))
}

fn map_of(sorted: bool) -> ArrayRef {
    let n = lengths(ROWS).sum();
    let keys: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..n).map(|i| format!("k{i:03}"))));
    let values = ints::<Int64Type>(n);
    let fields = Fields::from(vec![field("keys", &keys, false), field("values", &values, true)]);
    let entries = StructArray::new(fields, vec![keys, values], None);
    let name = field("entries", &entries, false);
    let offsets = OffsetBuffer::from_lengths(lengths(ROWS));
    Arc::new(MapArray::new(name, offsets, entries, third_null(ROWS), sorted))
}

pub fn lists() -> Vec<Case> {
    vec![
        case("list", list_of::<i32>(ROWS, texts)),
        case("large_list", list_of::<i64>(ROWS, ints::<Int16Type>)),
        case("list_of_list", list_of::<i32>(ROWS, |n| list_of::<i32>(n, ints::<Int8Type>))),
        case("list_of_struct", list_of::<i32>(ROWS, pair)),
        case("fixed_size_list", fixed_list_of(3, ints::<Int32Type>)),
        case("fixed_size_list_of_text", fixed_list_of(2, texts)),
        case("map", map_of(false)),
        case("map_sorted", map_of(true)),
        newer("list_view", list_view_of::<i32>(ROWS, texts)),
        newer("large_list_view", list_view_of::<i64>(ROWS, ints::<Int16Type>)),
    ]
}

pub fn structs() -> Vec<Case> {
    let wide = vec![("m", map_of(false)), ("l", list_of::<i32>(ROWS, texts)), ("p", pair(ROWS))];
    vec![
        case("struct", pair(ROWS)),
        case("struct_of_nested", struct_of(ROWS, wide, None)),
        case("struct_without_fields", struct_of(ROWS, vec![], third_null(ROWS))),
        newer(
            "struct_of_union",
            struct_of(ROWS, vec![("u", sparse(ROWS)), ("d", dense(ROWS))], None),
        ),
        newer(
            "struct_of_views",
            struct_of(ROWS, vec![("v", list_view_of::<i32>(ROWS, pair))], None),
        ),
    ]
}

// ---- Unions -------------------------------------------------------------------------------------

fn members(first: &ArrayRef, second: &ArrayRef) -> UnionFields {
    let fields = vec![field("number", first, true), field("text", second, true)];
    UnionFields::try_new(vec![5, 7], fields).expect("ids that differ")
}

fn type_ids(n: usize) -> ScalarBuffer<i8> {
    (0..n).map(|i| if i % 4 == 0 { 5 } else { 7 }).collect()
}

fn sparse(n: usize) -> ArrayRef {
    let (first, second) = (ints::<Int32Type>(n), texts(n));
    let fields = members(&first, &second);
    Arc::new(UnionArray::try_new(fields, type_ids(n), None, vec![first, second]).expect("a union"))
}

fn dense(n: usize) -> ArrayRef {
    let mut used = [0, 0];
    let ids = type_ids(n);
    let offsets = ids.iter().map(|id| {
        let next = &mut used[usize::from(*id == 7)];
        *next += 1;
        *next - 1
    });
    let offsets: ScalarBuffer<i32> = offsets.collect();
    let (first, second) = (ints::<Int32Type>(used[0] as usize), texts(used[1] as usize));
    let fields = members(&first, &second);
    let made = UnionArray::try_new(fields, ids.clone(), Some(offsets), vec![first, second]);
    Arc::new(made.expect("a union"))
}

pub fn unions() -> Vec<Case> {
    vec![
        newer("sparse_union", sparse(ROWS)),
        newer("dense_union", dense(ROWS)),
        newer("list_of_sparse_union", list_of::<i32>(ROWS, sparse)),
        newer("list_of_dense_union", list_of::<i32>(ROWS, dense)),
    ]
}

// ---- Runs and dictionaries: as they are, and decoded --------------------------------------------

type Both = (ArrayRef, ArrayRef);

const RUN: usize = 3;

fn run_ends<R: RunEndIndexType>(n: usize, make: fn(usize) -> ArrayRef) -> Both {
    let values = make(n.div_ceil(RUN));
    let ends = (1..=values.len()).map(|i| R::Native::usize_as((i * RUN).min(n)));
    let ends = PrimitiveArray::<R>::from_iter_values(ends);
    let rows = UInt32Array::from_iter_values((0..n).map(|i| (i / RUN) as u32));
    let plain = take(&values, &rows, None).expect("rows of the values");
    (Arc::new(RunArray::<R>::try_new(&ends, &values).expect("ends that rise")), plain)
}

/// Keys rise from row to row, so that values lie in the order in which rows use them.
fn dictionary<K: ArrowDictionaryKeyType>(n: usize, values: ArrayRef) -> Both {
    let size = values.len();
    let key = |i: usize| K::Native::usize_as((i - i / 3) % size);
    let keys: PrimitiveArray<K> = (0..n).map(|i| unless_null(i, key(i))).collect();
    let plain = take(&values, &keys, None).expect("keys of the values");
    (Arc::new(DictionaryArray::<K>::try_new(keys, values).expect("keys of the values")), plain)
}

/// The first values of a type that are not null.
fn solid(n: usize, make: impl Fn(usize) -> ArrayRef) -> ArrayRef {
    let all = make(2 * n);
    let rows = UInt32Array::from_iter_values((0..2 * n as u32).filter(|i| i % 3 != 2));
    take(&all, &rows, None).expect("rows of the values").slice(0, n)
}

fn words(n: usize) -> Both {
    dictionary::<Int8Type>(n, solid(9, texts))
}

fn inside(
    name: &'static str,
    both: impl Fn(usize) -> Both,
    wrap: impl Fn(&dyn Fn(usize) -> ArrayRef) -> ArrayRef,
) -> Case {
    encoded(name, wrap(&|n| both(n).0), wrap(&|n| both(n).1))
}

fn whole(name: &'static str, (array, plain): Both) -> Case {
    encoded(name, array, plain)
}

pub fn runs() -> Vec<Case> {
    let long = run_ends::<Int64Type>;
    vec![
        whole("runs_int16", run_ends::<Int16Type>(ROWS, texts)),
        whole("runs_int32", run_ends::<Int32Type>(ROWS, ints::<Int64Type>)),
        whole("runs_int64", run_ends::<Int64Type>(ROWS, pair)),
        inside("list_of_runs", move |n| long(n, texts), |make| list_of::<i32>(ROWS, make)),
    ]
}

fn views() -> ArrayRef {
    let values = (0..9).map(|i| Some(format!("a value beside the views {i}")));
    Arc::new(values.collect::<StringViewArray>())
}

pub fn dictionaries() -> Vec<Case> {
    vec![
        whole("dictionary_int8", words(ROWS)),
        whole("dictionary_int32", dictionary::<Int32Type>(ROWS, solid(9, ints::<Decimal128Type>))),
        whole("dictionary_uint16", dictionary::<UInt16Type>(ROWS, solid(9, ints::<Int64Type>))),
        whole("dictionary_int64", dictionary::<Int64Type>(ROWS, solid(9, pair))),
        whole(
            "dictionary_uint64",
            dictionary::<UInt64Type>(ROWS, solid(9, |n| list_of::<i32>(n, texts))),
        ),
        whole("dictionary_null_values", dictionary::<Int8Type>(ROWS, texts(9))),
        whole("dictionary_of_views", dictionary::<Int16Type>(ROWS, views())),
        inside("list_of_dictionary", words, |make| list_of::<i32>(ROWS, make)),
        inside("struct_of_dictionary", words, |make| {
            struct_of(ROWS, vec![("d", make(ROWS))], None)
        }),
    ]
}
