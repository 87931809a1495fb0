// Package lessons holds nothing but tests. Each takes a fault that was found in
// one of the systems Pawl learnt from and shows that Pawl does not have it.
package lessons
