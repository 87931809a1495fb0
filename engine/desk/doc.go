// Package desk is for who looks after runs from outside: it says where a run
// stands for whoever looks, which run another descends from, whose call is meant,
// and what may be shown of a log. It drives nothing and writes nothing.
package desk
