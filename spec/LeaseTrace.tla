----------------------------- MODULE LeaseTrace -----------------------------
(* Whether recorded histories of the simulator are behaviours of Lease.tla. A history is a list of steps. TLC performs *)
(* them one after the other. If the specification does not allow the next step, TLC reports a deadlock. *)
EXTENDS Lease, Histories  \* the simulator writes the module Histories
VARIABLES history, line  \* which history, and the next step in it
History == Histories[history]
LeaseOf(p) == History.lease[p]
Waits(p) == History.waitWhenAbsent
Perform(e) ==
  CASE e.op = "pass" -> Pass(e.ms)
    [] e.op = "restart" -> Restart(e.p)
    [] e.op = "acquire" -> e.over = Over(e.p) /\ Acquire(e.p)
    [] e.op = "renew" -> e.over = Over(e.p) /\ Renew(e.p)
    [] e.op = "release" -> e.over = Over(e.p) /\ Release(e.p)
    [] e.op = "commit" -> \E w \in net : w.by = e.p /\ w.over = e.over /\ w.age = Minus(Longest, Minus(Longest, e.age)) /\ Commit(w)
    [] e.op = "annotate" -> Annotate
    [] e.op = "delete" -> Delete
    [] e.op = "observe" -> /\ seen[e.p] < e.v /\ e.v <= Len(log) /\ Observe(e.p, e.v, e.heeds)
                           /\ e.left <= left'[e.p] /\ (e.token = 0 \/ e.token = token'[e.p])
    [] e.op = "work" -> left[e.p] > 0 /\ UNCHANGED <<log, net, known, campaign, term>>  \* its work runs at this moment
    [] e.op = "stop" -> StopWork(e.p)
TraceInit == Init /\ history \in DOMAIN Histories /\ line = 1
TraceNext == IF line > Len(History.steps) THEN UNCHANGED <<log, net, known, campaign, term, history, line>>
             ELSE Perform(History.steps[line]) /\ line' = line + 1 /\ UNCHANGED history
TraceSpec == TraceInit /\ [][TraceNext]_<<log, net, known, campaign, term, history, line>>
(* A deletion that a candidate cannot know of may lead to two leaders. See docs/guarantees.md. *)
IsDeleted == \E v \in 2 .. Len(log) : log[v].kind = "absent"
NeverTwo == IsDeleted \/ MutualExclusion
=============================================================================
