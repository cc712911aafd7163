package analysis

import "container/heap"

// laneHeap is a heap of the free lanes by number.
type laneHeap struct{ list ints }

func (h *laneHeap) Len() int   { return len(h.list) }
func (h *laneHeap) push(v int) { heap.Push(&h.list, v) }
func (h *laneHeap) pop() int   { return heap.Pop(&h.list).(int) }

type ints []int

func (s ints) Len() int           { return len(s) }
func (s ints) Less(i, j int) bool { return s[i] < s[j] }
func (s ints) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *ints) Push(x any)        { *s = append(*s, x.(int)) }

// Pop implements heap.Interface.
func (s *ints) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// busyLane is a lane and when its session ends.
type busyLane struct {
	end  int64
	lane int
}

// endHeap is a heap of the busy lanes by the end of their sessions.
type endHeap struct{ list busyLanes }

func (h *endHeap) Len() int        { return len(h.list) }
func (h *endHeap) first() busyLane { return h.list[0] }
func (h *endHeap) push(b busyLane) { heap.Push(&h.list, b) }
func (h *endHeap) pop() busyLane   { return heap.Pop(&h.list).(busyLane) }

type busyLanes []busyLane

func (s busyLanes) Len() int { return len(s) }
func (s busyLanes) Less(i, j int) bool {
	return s[i].end < s[j].end || s[i].end == s[j].end && s[i].lane < s[j].lane
}
func (s busyLanes) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *busyLanes) Push(x any)   { *s = append(*s, x.(busyLane)) }

// Pop implements heap.Interface.
func (s *busyLanes) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
