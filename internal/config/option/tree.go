package option

import (
	"iter"
	"reflect"
)

// Tree is the values of all options: a field for each, whose name is that of the option. The fields of a subject stand
// in the subject's file, and beside them their rows of the table.
type Tree struct {
	endpointFields
	tokenizerFields
	inputFields
	promptFields
	mediaFields
	loadFields
	seriesFields
	serverFields
	fleetFields
	outputFields
	fileFields
}

// Rows is the tree of the table, in which nothing is set: its fields stand for the rows. Callers only read it.
func Rows() *Tree { return &table().tree }

// NewTree makes a tree in which nothing is set.
func NewTree() Tree { return table().tree }

// rows are those of the fields, group by group in the order of the help text; the last ones have no flag.
func (t *Tree) rows() (rows []Option, flagged int) {
	for _, group := range []struct {
		name Group
		rows []Option
	}{
		{GroupEndpoint, t.endpointFields.rows()}, {GroupTokenizer, t.tokenizerFields.rows()},
		{GroupInput, t.inputFields.rows()}, {GroupPrompts, t.promptFields.rows()}, {GroupMedia, t.mediaFields.rows()},
		{GroupLoad, t.loadFields.rows()}, {GroupSeries, t.seriesFields.rows()}, {GroupServer, t.serverFields.rows()},
		{GroupFleet, t.fleetFields.rows()}, {GroupOutput, t.outputFields.rows()},
	} {
		name := group.name
		for i := range group.rows {
			if begins := group.rows[i].Group; begins != "" {
				name = begins
			}
			group.rows[i].Group = name
		}
		rows = append(rows, group.rows...)
	}
	return append(rows, t.fileFields.rows()...), len(rows)
}

// Field is the field of a row.
func (t *Tree) Field(o *Option) Field {
	return reflect.ValueOf(t).Elem().FieldByIndex(o.path).Addr().Interface().(Field)
}

// Fields are those of options that have a flag, in the order of the table.
func (t *Tree) Fields() iter.Seq[Field] {
	return func(yield func(Field) bool) {
		options := All()
		for i := range options {
			if !yield(t.Field(&options[i])) {
				return
			}
		}
	}
}

// paths are the places of the fields in a tree, by their addresses in this one.
func (t *Tree) paths() map[Field][]int {
	paths := map[Field][]int{}
	tree := reflect.ValueOf(t).Elem()
	for i := range tree.NumField() {
		for j := range tree.Field(i).NumField() {
			paths[tree.Field(i).Field(j).Addr().Interface().(Field)] = []int{i, j}
		}
	}
	return paths
}
