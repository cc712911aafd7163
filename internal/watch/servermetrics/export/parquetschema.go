package export

import (
	"slices"

	"github.com/parquet-go/parquet-go"
)

// The columns before and after those of the labels.
var (
	leadingColumns  = [...]string{"endpoint_url", "metric_name", "metric_type", "unit", "description", "timestamp_ns"}
	trailingColumns = [...]string{"value", "sum", "count", "bucket_le", "bucket_count"}
)

// Places of the columns: those of leadingColumns from the start, those of trailingColumns after the labels.
const (
	columnEndpoint = iota
	columnName
	columnType
	columnUnit
	columnDescription
	columnTimestamp
	columnLabels
)

const (
	columnValue = iota
	columnSum
	columnCount
	columnBucket
	columnBucketCount
)

// fixedColumns returns the names that a label cannot have as a column.
func fixedColumns() []string {
	return slices.Concat(leadingColumns[:], trailingColumns[:])
}

// orderedGroup is a group whose fields stand in the given order, not in that of the alphabet.
type orderedGroup struct {
	parquet.Group
	order []string
}

// Fields overrides that of the group.
func (g orderedGroup) Fields() []parquet.Field {
	sorted := g.Group.Fields()
	fields := make([]parquet.Field, 0, len(sorted))
	for _, name := range g.order {
		at, _ := slices.BinarySearchFunc(sorted, name, func(f parquet.Field, name string) int {
			if f.Name() < name {
				return -1
			} else if f.Name() > name {
				return 1
			}
			return 0
		})
		fields = append(fields, sorted[at])
	}
	return fields
}

func newSchema(labels []string) *parquet.Schema {
	text := parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	number := parquet.Leaf(parquet.DoubleType)
	g := orderedGroup{
		Group: parquet.Group{
			"endpoint_url": text, "metric_name": text, "metric_type": text,
			"unit": parquet.Optional(text), "description": parquet.Optional(text),
			"timestamp_ns": parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.DeltaBinaryPacked),
			"value":        parquet.Optional(number), "sum": parquet.Optional(number),
			"count":     parquet.Optional(number),
			"bucket_le": parquet.Optional(text), "bucket_count": parquet.Optional(number),
		},
		order: slices.Concat(leadingColumns[:], labels, trailingColumns[:]),
	}
	for _, label := range labels {
		g.Group[label] = parquet.Optional(text)
	}
	return parquet.NewSchema("schema", g)
}
