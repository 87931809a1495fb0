package usercode

import (
	"reflect"
	"testing"
	"time"
)

type leaf struct{ Data []byte }

type tree struct {
	Name  string
	List  []leaf
	Map   map[string][]byte
	One   *leaf
	Any   []any
	Time  time.Time
	None  []int
	Empty []int
}

func TestCopy(t *testing.T) {
	now := time.Now()
	grow := func() tree {
		return tree{"a", []leaf{{[]byte("b")}}, map[string][]byte{"c": []byte("d")}, &leaf{[]byte("e")}, []any{leaf{[]byte("f")}, 1, nil}, now, nil, []int{}}
	}
	was := grow()
	got := Copy(was)
	if !reflect.DeepEqual(got, grow()) {
		t.Fatalf("%+v", got)
	}
	was.List[0].Data[0], was.Map["c"][0], was.One.Data[0], was.Any[0].(leaf).Data[0] = 'x', 'x', 'x', 'x'
	was.Map["new"], was.List[0] = nil, leaf{}
	if !reflect.DeepEqual(got, grow()) {
		t.Errorf("the copy shares memory: %+v", got)
	}
	if Copy[*leaf](nil) != nil {
		t.Error("a copy of nothing is something")
	}
}
