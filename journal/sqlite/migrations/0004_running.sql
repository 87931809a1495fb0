-- Servers look all the time for running runs that lost their owner.
CREATE INDEX runs_running ON runs (status) WHERE status = 'running';
