package record

import "testing"

func TestEveryFactHasANameOfItsOwn(t *testing.T) {
	for i := range NumFields {
		if back, ok := FieldNamed(i.String()); i.String() == "" || !ok || back != i {
			t.Errorf("fact %d is named %q, which is that of fact %d: fieldNames needs a row for each", i, i, back)
		}
	}
}
