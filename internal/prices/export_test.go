package prices

// All is every row, for the test of the table itself.
func All() []Row { return load().Rows }
