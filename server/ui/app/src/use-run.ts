import { useEffect, useRef, useState } from "preact/hooks";
import { api, follow, readLog, words, type Connection } from "./api";
import { Log } from "./fold";
import type { Result } from "./types";

export interface Live {
  log: Log;
  version: number; // grows with the log
  result: Result | null;
  status: string;
  connection: Connection;
  error: string;
  loaded: boolean;
  ended: boolean; // nothing follows until the run is resumed
  /** again asks for what changed after something was done to the run. */
  again: () => void;
}

const telling = /^(run|approval|input|client_tool|cancel|child)\.|^tool\.(doubted|settled)$/;

/** useRun reads a run's log, page by page, and then follows it. */
export function useRun(run: string): Live {
  const log = useRef(new Log()).current;
  const [version, setVersion] = useState(0);
  const [result, setResult] = useState<Result | null>(null);
  const [connection, setConnection] = useState<Connection>({ state: "connecting" });
  const [error, setError] = useState("");
  const [loaded, setLoaded] = useState(false);
  const [round, setRound] = useState(0);

  useEffect(() => {
    const stop = new AbortController();
    const signal = stop.signal;
    let due = 0;
    let asked = 0;
    const refresh = (delay = 120) => {
      due ||= window.setTimeout(async () => {
        due = 0;
        const turn = ++asked;
        try {
          const r = await api.run(run, signal);
          if (turn === asked) setResult(r); // a later answer may have arrived first
        } catch (e) {
          if (!signal.aborted) setError(words(e));
        }
      }, delay);
    };
    const read = async () => {
      refresh(0);
      await readLog(run, log.last ? String(log.last + 1) : "", (page) => {
        for (const e of page) log.add(e);
        setVersion((v) => v + 1);
      }, signal);
      setLoaded(true);
      refresh(0); // the first answer may be older than the log
      if (log.ended && round === 0) return setConnection({ state: "ended" });
      await follow(run, log.last, {
        entries(batch) {
          for (const e of batch) log.add(e);
          setVersion((v) => v + 1);
          if (batch.some((e) => telling.test(e.type))) refresh();
        },
        delta(e) {
          log.delta(e);
          setVersion((v) => v + 1);
        },
        state(c) {
          if (c.state === "connecting") log.live = null; // the server says it again from the beginning
          setConnection(c);
        },
      }, signal, round > 0);
      refresh(0);
    };
    read().catch((e) => !signal.aborted && setError(words(e)));
    // No entry says that an owner is gone or a request has expired.
    const poll = setInterval(() => {
      if (document.hidden) return;
      if (!log.ended) return refresh(0);
      // Another process may have resumed it.
      api.run(run, signal).then((r) => { if (log.ended && /^(running|queued|waiting_)/.test(r.status)) setRound((n) => n + 1); }, () => {});
    }, 5000);
    return () => {
      stop.abort();
      clearTimeout(due);
      clearInterval(poll);
    };
  }, [run, round]);

  // Half a log has an old state.
  const ended = loaded || !result ? log.ended : /^(success|exhausted|no_progress|denied|plan_failed|failed|cancelled)$/.test(result.status);
  let status = (loaded && log.status) || result?.status || "";
  if (result && ((status === "running" && result.status === "interrupted") || (status.startsWith("waiting") && result.status === "expired"))) status = result.status;
  return { log, version, result, status, connection, error, loaded, ended, again: () => setRound((n) => n + 1) };
}
