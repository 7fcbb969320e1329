------------------------------- MODULE Lease -------------------------------
(* How candidates share one lock. A leader works for one lease after it SENT its last confirmed write. A candidate     *)
(* acquires the lock one lease after it OBSERVED the last change. Every write is a compare-and-swap.                   *)
(* Delay and loss need no step of their own: a sent write commits at any later time or never, a version is observed at *)
(* any later time or never, and a process may pause anywhere. Clocks run at one rate, so the hard deadline is the end  *)
(* of the lease. Times are counters: what remains of a wait, the age of a write. So a history may last for any time.   *)
EXTENDS Naturals, Sequences
CONSTANTS Procs, Slow, Short, Long,  \* the candidates, those of them that use the long lease, both leases in ticks
          Deletions,       \* who may delete the lock: "nobody", "known" (if all candidates have seen it) or "anybody"
          WaitWhenAbsent,  \* whether a candidate that finds no lock waits for one lease
          MaxVersion, Mistake  \* the bound of the search; the rule that this run breaks, or "none"
VARIABLES log, net,  \* all versions of the lock, the number is the resourceVersion; writes that may still commit
          seen,      \* per process: the last version that it observed
          wait,      \* per process: how long the holder that it observed may still work
          vanished,  \* per process: how long the holder of a deleted lock may still work
          campaign,  \* per process: the version at which its campaign began; an older write starts no term
          left,      \* per process: how long it may still work
          token, highest  \* per process: the token of its term, 0 if it has none; the highest token so far
vars == <<log, net, seen, wait, vanished, campaign, left, token, highest>>
Max(a, b) == IF a > b THEN a ELSE b                   Lease(p) == IF p \in Slow THEN Long ELSE Short
Absent == [kind |-> "absent", by |-> "nobody", lease |-> 0, age |-> Long, after |-> 0, uid |-> 0]
Current == log[Len(log)]                              Set(f, p, value) == [f EXCEPT ![p] = value]

(* A create (over 0) commits over any absence, so it may commit late, or twice. Of other writes only one commits. *)
Send(p, kind, over) == net' = {w \in net : w.by # p \/ (w.over = 0 /\ over > 0)} \cup
  {[kind |-> kind, by |-> p, lease |-> Lease(p), age |-> 0, after |-> seen[p], over |-> over]}
Acquire(p) == /\ left[p] = 0 /\ wait[p] = 0 /\ vanished[p] = 0
              /\ Send(p, "acquire", IF log[seen[p]].kind = "absent" THEN 0 ELSE seen[p])
              /\ campaign' = Set(campaign, p, IF token[p] > 0 THEN seen[p] ELSE campaign[p])
              /\ token' = Set(token, p, 0) /\ UNCHANGED <<log, seen, wait, vanished, left, highest>>
Renew(p) == left[p] > 0 /\ Send(p, "renew", seen[p]) /\ UNCHANGED <<log, seen, wait, vanished, campaign, left, token, highest>>
Release(p) == /\ left[p] > 0 /\ Send(p, "release", seen[p]) /\ campaign' = Set(campaign, p, seen[p])
              /\ left' = IF Mistake = "release-before-work-stops" THEN left ELSE Set(left, p, 0)
              /\ token' = Set(token, p, 0) /\ UNCHANGED <<log, seen, wait, vanished, highest>>

Store(it) == /\ Len(log) < MaxVersion /\ log' = Append(log, it) /\ net' = {w \in net : w.over = 0 /\ Deletions # "nobody"}
             /\ UNCHANGED <<seen, wait, vanished, campaign, left, token, highest>>
Commit == \E w \in net :
  /\ IF Current.kind = "absent" THEN w.over = 0 ELSE w.over = Len(log) \/ (Mistake = "write-without-compare" /\ w.over > 0)
  /\ Store([kind |-> w.kind, by |-> w.by, lease |-> w.lease, age |-> w.age, after |-> w.after,
            uid |-> IF w.over = 0 THEN Len(log) + 1 ELSE Current.uid])
Delete == /\ Deletions # "nobody" /\ Current.kind # "absent" /\ Store(Absent)
          /\ Deletions = "known" => \A p \in Procs : log[seen[p]].uid = Current.uid

WaitFor(p, it) == CASE it.kind = "absent" -> IF WaitWhenAbsent THEN Lease(p) ELSE 0
                    [] it.kind = "release" \/ it.by = p -> 0  \* a record that this process wrote: its term is over
                    [] OTHER -> IF Mistake = "wait-own-lease" THEN Lease(p) ELSE it.lease
Observe(p) == \E v \in seen[p] + 1 .. Len(log) :
  LET it == log[v]  old == log[seen[p]]
      starts == it.by = p /\ token[p] = 0 /\ it.kind = "acquire" /\ it.age < Lease(p)
                /\ (it.after >= campaign[p] \/ Mistake = "start-from-old-campaign")
      extends == it.by = p /\ left[p] > 0 /\ it.kind = "renew" /\ it.uid = old.uid
      wasOwn == old.by = p /\ old.kind # "release" /\ old.age < Lease(p)
      isReplaced == old.kind # "absent" /\ old.uid # it.uid /\ ~wasOwn /\ Mistake # "deletion-is-release"
  IN /\ seen' = Set(seen, p, v) /\ campaign' = IF it.by = p THEN campaign ELSE Set(campaign, p, v)
     /\ wait' = IF Mistake = "wait-from-first-sight" /\ old.by = it.by THEN wait ELSE Set(wait, p, WaitFor(p, it))
     /\ vanished' = IF isReplaced THEN Set(vanished, p, Max(Lease(p), old.lease)) ELSE vanished
     /\ left' = IF starts \/ extends THEN Set(left, p, Lease(p) - (IF Mistake = "count-from-answer" THEN 0 ELSE it.age))
                ELSE IF Mistake = "work-after-takeover" THEN left ELSE Set(left, p, 0)
     /\ token' = IF extends THEN token ELSE Set(token, p, IF starts THEN v ELSE 0)
     /\ highest' = (IF starts THEN Max(highest, v) ELSE highest) /\ UNCHANGED <<log, net>>

(* A crash and a restart. The new process reads the lock, and no record is its own, whatever its identity. *)
Disown(w, p) == IF w.by = p THEN [w EXCEPT !.by = "nobody", !.age = Long, !.after = 0] ELSE w
Restart(p) == /\ log' = [v \in DOMAIN log |-> Disown(log[v], p)] /\ net' = {Disown(w, p) : w \in net}
              /\ seen' = Set(seen, p, Len(log)) /\ campaign' = Set(campaign, p, Len(log))
              /\ wait' = Set(wait, p, WaitFor(p, Disown(Current, p))) /\ vanished' = Set(vanished, p, 0)
              /\ left' = Set(left, p, 0) /\ token' = Set(token, p, 0) /\ UNCHANGED highest
Down(f) == [p \in Procs |-> IF f[p] = 0 THEN 0 ELSE f[p] - 1]
Older(w) == IF w.age = Long THEN w ELSE [w EXCEPT !.age = @ + 1]
Tick == /\ log' = [v \in DOMAIN log |-> Older(log[v])] /\ net' = {Older(w) : w \in net}
        /\ wait' = Down(wait) /\ vanished' = Down(vanished) /\ left' = Down(left) /\ UNCHANGED <<seen, campaign, token, highest>>
All(n) == [p \in Procs |-> n]
Init == /\ log = <<Absent>> /\ net = {} /\ seen = All(1) /\ campaign = All(1) /\ vanished = All(0)
        /\ wait = [p \in Procs |-> WaitFor(p, Absent)] /\ left = All(0) /\ token = All(0) /\ highest = 0
Next == Commit \/ Delete \/ Tick \/ \E p \in Procs : Acquire(p) \/ Renew(p) \/ Release(p) \/ Observe(p) \/ Restart(p)
Spec == Init /\ [][Next]_vars
MutualExclusion == \A p, q \in Procs : p # q => left[p] = 0 \/ left[q] = 0
TokensGrow == [][\A p \in Procs : token'[p] # token[p] => token'[p] = 0 \/ token'[p] > highest]_vars
=============================================================================
