// Writes a stream of every type with arrow-go, into the folder that is its argument: how
// tests/interop/arrow_go/streams was made (go run . streams).
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func write(path string, batches []arrow.RecordBatch, options ...ipc.Option) {
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	options = append(options, ipc.WithSchema(batches[0].Schema()))
	writer := ipc.NewWriter(file, options...)
	for _, batch := range batches {
		if err := writer.Write(batch); err != nil {
			panic(err)
		}
	}
	if err := writer.Close(); err != nil {
		panic(err)
	}
}

// Values as JSON, beside a column that numbers the rows.
func batchOf(kind arrow.DataType, json string) arrow.RecordBatch {
	values, _, err := array.FromJSON(memory.DefaultAllocator, kind, strings.NewReader("["+json+"]"))
	if err != nil {
		panic(fmt.Sprint(kind, ": ", err))
	}
	numbers := array.NewInt32Builder(memory.DefaultAllocator)
	for i := range values.Len() {
		numbers.Append(int32(i))
	}
	metadata := arrow.MetadataFrom(map[string]string{"k": "v"})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "c", Type: kind, Nullable: true, Metadata: metadata},
		{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, &metadata)
	return array.NewRecordBatch(schema, []arrow.Array{values, numbers.NewArray()}, int64(values.Len()))
}

func main() {
	t := arrow.PrimitiveTypes
	i32 := t.Int32
	cases := map[string]struct {
		kind arrow.DataType
		json string
	}{
		"int8": {t.Int8, `1,null,-128,127`}, "int16": {t.Int16, `1,null,-5`}, "int32": {i32, `1,null,-5`}, "int64": {t.Int64, `1,null,-5`},
		"uint8": {t.Uint8, `1,null,255`}, "uint16": {t.Uint16, `1,null,5`}, "uint32": {t.Uint32, `1,null,5`}, "uint64": {t.Uint64, `1,null,5`},
		"float16": {arrow.FixedWidthTypes.Float16, `1.5,null,-2`}, "float32": {t.Float32, `1.5,null`}, "float64": {t.Float64, `1.5,null`},
		"bool": {arrow.FixedWidthTypes.Boolean, `true,null,false,true,true,false,true,true,true`}, "null": {arrow.Null, `null,null,null`},
		"utf8": {arrow.BinaryTypes.String, `"a",null,"","häh"`}, "binary": {arrow.BinaryTypes.Binary, `"YQ==",null,""`},
		"large_utf8": {arrow.BinaryTypes.LargeString, `"a",null,""`}, "large_binary": {arrow.BinaryTypes.LargeBinary, `"YQ==",null`},
		"utf8_view":   {arrow.BinaryTypes.StringView, `"short",null,"a string that is longer than twelve bytes",""`},
		"binary_view": {arrow.BinaryTypes.BinaryView, `"YQ==",null,"YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh"`},
		"fsb":         {&arrow.FixedSizeBinaryType{ByteWidth: 3}, `"YWJj",null,"YWJj"`},
		"date32":      {t.Date32, `1,null,20000`}, "date64": {t.Date64, `86400000,null`},
		"time32s": {arrow.FixedWidthTypes.Time32s, `"01:02:03",null`}, "time32ms": {arrow.FixedWidthTypes.Time32ms, `"01:02:03",null`},
		"time64us": {arrow.FixedWidthTypes.Time64us, `"01:02:03",null`}, "time64ns": {arrow.FixedWidthTypes.Time64ns, `"01:02:03",null`},
		"ts_us_utc": {arrow.FixedWidthTypes.Timestamp_us, `"2020-01-02T03:04:05Z",null`}, "ts_ns": {&arrow.TimestampType{Unit: arrow.Nanosecond}, `"2020-01-02T03:04:05",null`},
		"dur":   {arrow.FixedWidthTypes.Duration_ms, `"5ms",null`},
		"month": {arrow.FixedWidthTypes.MonthInterval, `{"months":3},null`}, "daytime": {arrow.FixedWidthTypes.DayTimeInterval, `{"days":1,"milliseconds":2},null`},
		"mdn":   {arrow.FixedWidthTypes.MonthDayNanoInterval, `{"months":1,"days":2,"nanoseconds":3},null`},
		"dec32": {&arrow.Decimal32Type{Precision: 9, Scale: 2}, `"1.23",null`}, "dec64": {&arrow.Decimal64Type{Precision: 18, Scale: 2}, `"1.23",null`},
		"dec128": {&arrow.Decimal128Type{Precision: 38, Scale: 2}, `"1.23",null,"-5.00"`}, "dec256": {&arrow.Decimal256Type{Precision: 76, Scale: 2}, `"1.23",null`},
		"list": {arrow.ListOf(i32), `[1,null],null,[],[3]`}, "large_list": {arrow.LargeListOf(arrow.BinaryTypes.String), `["a",null],null,[]`},
		"list_view": {arrow.ListViewOf(i32), `[1,null],null,[],[3]`}, "large_list_view": {arrow.LargeListViewOf(i32), `[1,null],null,[]`},
		"fsl":              {arrow.FixedSizeListOf(2, i32), `[1,null],null,[5,6]`},
		"struct":           {arrow.StructOf(arrow.Field{Name: "x", Type: i32, Nullable: true}, arrow.Field{Name: "y", Type: arrow.BinaryTypes.String}), `{"x":1,"y":"a"},null,{"x":null,"y":"b"}`},
		"map":              {arrow.MapOf(arrow.BinaryTypes.String, i32), `[{"key":"a","value":1}],null,[]`},
		"dict":             {&arrow.DictionaryType{IndexType: i32, ValueType: arrow.BinaryTypes.String}, `"a",null,"b","a"`},
		"dict_u8":          {&arrow.DictionaryType{IndexType: t.Uint8, ValueType: t.Int64, Ordered: true}, `7,null,8,7`},
		"list_dict":        {arrow.ListOf(&arrow.DictionaryType{IndexType: t.Int8, ValueType: arrow.BinaryTypes.String}), `["a","b"],null,["a"]`},
		"ree":              {arrow.RunEndEncodedOf(i32, arrow.BinaryTypes.String), `"a","a",null,"b","b"`},
		"ree16":            {arrow.RunEndEncodedOf(t.Int16, t.Int64), `1,1,2,null,null`},
		"sparse":           {arrow.SparseUnionOf([]arrow.Field{{Name: "i", Type: i32, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, []arrow.UnionTypeCode{0, 5}), `[0,1],[5,"a"],[0,null]`},
		"dense":            {arrow.DenseUnionOf([]arrow.Field{{Name: "i", Type: i32, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, []arrow.UnionTypeCode{0, 5}), `[0,1],[5,"a"],[0,null]`},
		"list_struct_view": {arrow.ListOf(arrow.StructOf(arrow.Field{Name: "v", Type: arrow.BinaryTypes.StringView, Nullable: true})), `[{"v":"a view of more than twelve bytes"},{"v":null}],null,[]`},
	}
	for name, c := range cases {
		path := filepath.Join(os.Args[1], name)
		batch := batchOf(c.kind, c.json)
		write(path+".arrows", []arrow.RecordBatch{batch})
		if !strings.Contains(name, "list_view") { // arrow-go refuses slices of those
			write(path+"_slice.arrows", []arrow.RecordBatch{batch.NewSlice(1, batch.NumRows())})
		}
	}
	words := &arrow.DictionaryType{IndexType: i32, ValueType: arrow.BinaryTypes.String}
	grows := []arrow.RecordBatch{batchOf(words, `"a",null,"b"`), batchOf(words, `"a","b","c",null`)}
	write(filepath.Join(os.Args[1], "delta.arrows"), grows, ipc.WithDictionaryDeltas(true))
	write(filepath.Join(os.Args[1], "replaced.arrows"),
		[]arrow.RecordBatch{grows[0], batchOf(words, `"x","a",null`)})
	text := batchOf(arrow.BinaryTypes.String, `"`+strings.Repeat("compress ", 40)+`",null,"b"`)
	write(filepath.Join(os.Args[1], "lz4.arrows"), []arrow.RecordBatch{text}, ipc.WithLZ4())
	write(filepath.Join(os.Args[1], "zstd.arrows"), []arrow.RecordBatch{text}, ipc.WithZstd())
}
