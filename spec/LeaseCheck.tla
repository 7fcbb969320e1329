----------------------------- MODULE LeaseCheck -----------------------------
(* What TLC needs to search Lease.tla quickly. The specification itself is in Lease.tla. *)
EXTENDS Lease, TLC
CONSTANTS Slow, Short, Long,  \* the candidates that use the long lease, and both leases in ticks
          WaitWhenAbsent      \* whether a candidate that finds no lock waits for one lease
LeaseOf(p) == IF p \in Slow THEN Long ELSE Short
Waits(p) == WaitWhenAbsent
Symmetry == Permutations(Procs)

(* Of several writes of one process over one version, only one commits. If that is not the last one, its commit can be *)
(* moved to before the last one was sent: nobody changes the lock in between, and a version may be observed late. So   *)
(* a search finds the same violations if a new write replaces the older ones, except creates.                          *)
CheckedSend(p, kind) ==
  net' = {w \in net : w.by # p \/ (w.over = 0 /\ Over(p) > 0)} \cup
         {[kind |-> kind, by |-> p, lease |-> IF kind = "release" THEN 0 ELSE Lease(p), age |-> 0,
           campaign |-> campaign'[p], over |-> Over(p)]}

(* States that differ only in what no longer matters are one state. *)
Essence(w, isPast) ==
  LET isCurrent == w.by # "nobody" /\ ~isPast /\ w.kind = "acquire" /\ w.campaign = campaign[w.by]
  IN [w EXCEPT !.campaign = IF isCurrent THEN 1 ELSE 0, !.age = IF isPast THEN Longest ELSE @,
               !.by = IF isPast THEN "nobody" ELSE @, !.kind = IF isPast /\ @ = "renew" THEN "acquire" ELSE @]
IsPast(v) == v < Len(log) /\ \A p \in Procs : v < seen[p]
View == <<{Essence(w, FALSE) : w \in net}, seen, vanished, left, [p \in Procs |-> campaign[p] > 0], [p \in Procs |-> token[p] > 0],
          [p \in Procs |-> IF wait[p] <= vanished[p] THEN 0 ELSE wait[p]], [p \in Procs |-> Max(longest[p], Lease(p))],
          IF \A p \in Procs : seen[p] >= highest THEN 0 ELSE highest,
          [v \in DOMAIN log |-> IF IsPast(v) THEN Absent
                                ELSE Essence(log[v], log[v].by # "nobody" /\ seen[log[v].by] > v)]>>
=============================================================================
