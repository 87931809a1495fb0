package server

func (s *Server) agui(x *exchange, run string) error { return refusal(404, run) }
