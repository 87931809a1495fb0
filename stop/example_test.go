package stop_test

import (
	"fmt"

	"github.com/pawl-run/pawl/stop"
)

func Example() {
	c := stop.Any(
		stop.All(stop.ToolCalled("submit_po"), stop.Confidence(0.9)),
		stop.Iterations(10),
	)
	fmt.Println(c)
	// Output: tool_called("submit_po") && confidence >= 0.9 || iterations >= 10
}

// A customer who is dissatisfied more than twice gets a ticket, and the run is over.
func ExampleParse() {
	c, err := stop.Parse(`user_said("(?i)not (happy|good)") > 2 && tool_called("open_ticket")`, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)

	_, err = stop.Parse(`itertions >= 10`, nil)
	fmt.Println(err)
	// Output:
	// user_said("(?i)not (happy|good)") > 2 && tool_called("open_ticket")
	// column 1: unknown condition itertions (did you mean iterations?)
}
