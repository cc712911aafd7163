package operator

import (
	"context"
	"time"
)

func (o *Operator) reconcileSweep(ctx context.Context, k key) (time.Duration, error) { return 0, nil }
