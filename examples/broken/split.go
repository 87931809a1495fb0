package ledger

// Split divides an amount among a number of people. The cents that do not
// divide evenly go one each to the first of them.
func Split(amount int64, people int) []int64 {
	if people <= 0 {
		return nil
	}
	shares := make([]int64, people)
	each, rest := amount/int64(people), amount%int64(people)
	for i := range shares {
		shares[i] = each
		if int64(i) <= rest {
			shares[i]++
		}
	}
	return shares
}
