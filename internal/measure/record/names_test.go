package record_test

import (
	"testing"

	"aiperf/internal/measure/record"
)

func TestEveryFactHasANameOfItsOwn(t *testing.T) {
	for i := range record.NumFields {
		if back, ok := record.FieldNamed(i.String()); i.String() == "" || !ok || back != i {
			t.Errorf("fact %d is named %q, which is that of fact %d: fieldNames needs a row for each", i, i, back)
		}
	}
}
