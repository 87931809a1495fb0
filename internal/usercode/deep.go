package usercode

import "reflect"

// A Reader is embedded by a policy of Pawl's own that writes into nothing it is shown, so that it needs no copy.
type Reader struct{}

// Reads marks the policy. No other module can name its result.
func (Reader) Reads() Reader { return Reader{} }

// Copy returns v with copies of all that it refers to, through exported fields.
func Copy[T any](v T) T {
	own(reflect.ValueOf(&v).Elem())
	return v
}

// own replaces what v, which can be set, refers to by a copy.
func own(v reflect.Value) {
	if !refers(v.Type()) || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() { // [reflect.Value.Fields] would allocate for each
			own(v.Field(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		for i := 0; i < c.Len() && refers(v.Type().Elem()); i++ {
			own(c.Index(i))
		}
		v.Set(c)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		c := reflect.MakeMapWithSize(v.Type(), v.Len())
		for of := v.MapRange(); of.Next(); {
			c.SetMapIndex(of.Key(), copied(of.Value()))
		}
		v.Set(c)
	case reflect.Interface:
		if !v.IsNil() && refers(v.Elem().Type()) {
			v.Set(copied(v.Elem()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			v.Set(copied(v.Elem()).Addr())
		}
	}
}

func copied(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	own(c)
	return c
}

// refers reports whether values of a type may refer to memory that can be changed.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map, reflect.Interface, reflect.Pointer:
		return true
	default:
		return false
	}
}
