package client

import "testing"

// What a timer may still hold is not used for another exchange.
func TestPinnedExchangesAreNotUsedAgain(t *testing.T) {
	c := &Client{}
	made := 0
	c.idle.New = func() any { made++; return new(exchange) }
	x := c.idle.Get().(*exchange)
	x.client, x.pinned = c, true
	x.retire()
	if x.client != c {
		t.Error("an exchange that is referred to was cleared")
	}
	y := &exchange{client: c, out: &Exchange{Responses: 3}, room: new([]byte)}
	y.retire()
	if y.client != nil || y.out != nil || y.room != nil {
		t.Error("an exchange was kept with what belongs to the last one")
	}
}
