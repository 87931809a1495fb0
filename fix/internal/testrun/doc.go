// Package testrun runs the tests of a project and says which pass: go test and pytest with the
// verdict of each test, any other command by its exit code.
package testrun
