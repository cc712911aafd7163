package webserver_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"aiperf/internal/base/webpage"
)

func TestTheChartLibraryIsTheOneThatIsNamed(t *testing.T) {
	sums, err := os.Open("../webpage/assets/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	defer sums.Close()
	n := 0
	for lines := bufio.NewScanner(sums); lines.Scan(); n++ {
		want, name, _ := strings.Cut(lines.Text(), "  ")
		if sum := sha256.Sum256([]byte(webpage.Asset(name))); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is not what SHA256SUMS says; assets/fetch.sh fetches it anew", name)
		}
	}
	if n != 3 {
		t.Errorf("%d files", n)
	}
	if !strings.Contains(webpage.Asset("uPlot.iife.min.js"), "(v1.6.32)") {
		t.Error("another version")
	}
}
