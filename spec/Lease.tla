------------------------------- MODULE Lease -------------------------------
(* How candidates share one lock. A leader works for one lease after it SENT its last confirmed write. A candidate     *)
(* acquires the lock one lease after it OBSERVED the last change of the record. Every write is a compare-and-swap.     *)
(* Delay and loss need no step of their own: a sent write commits at any later time or never, a version is observed at *)
(* any later time or never, and a process may pause anywhere. Clocks run at one rate, so the hard deadline is the end  *)
(* of the lease. Times are counters: what remains of a wait, the age of a write. So a history may last for any time.   *)
EXTENDS Naturals, Sequences
CONSTANTS Procs, Lease(_), Longest, WaitsWhenAbsent(_),  \* candidates, their leases, the longest; who waits if there is no lock
          Events, MaxVersion, Mistake  \* what else may happen; the bound of the search; the rule that is broken, or "none"
VARIABLES log, net,         \* all versions of the lock, the number is the resourceVersion; all writes that may still commit
          seen, campaign,   \* per process: the version that it observed last; counts its campaigns, 0 if it observed nothing
          wait, vanished, longest,  \* per process: how long the holder may still work, and that of a deleted lock; the
                                    \* longest lease that it has observed
          left, token, highest  \* per process: how long it may still work, its token or 0; the highest token so far
known == <<seen, wait, vanished, longest>>            term == <<left, token, highest>>
Max(a, b) == IF a > b THEN a ELSE b                   Minus(a, b) == IF a > b THEN a - b ELSE 0
Set(f, p, value) == [f EXCEPT ![p] = value]           All(n) == [p \in Procs |-> n]
Absent == [kind |-> "absent", by |-> "nobody", lease |-> 0, age |-> Longest, campaign |-> 0, uid |-> 0, record |-> 0]
Current == log[Len(log)]                              Seen(p) == IF campaign[p] = 0 THEN Absent ELSE log[seen[p]]
(* A write over version n commits only while n is current. A create (over 0) commits over any absence, even twice. *)
Over(p) == IF Seen(p).kind = "absent" THEN 0 ELSE seen[p]
Send(p, kind) == net' = net \cup {[kind |-> kind, by |-> p, lease |-> IF kind = "release" THEN 0 ELSE Lease(p), age |-> 0,
                                   campaign |-> campaign'[p], over |-> Over(p)]}
Acquire(p) == /\ campaign[p] > 0 /\ left[p] = 0 /\ wait[p] = 0 /\ vanished[p] = 0
              /\ campaign' = Set(campaign, p, IF token[p] > 0 THEN campaign[p] + 1 ELSE campaign[p])
              /\ token' = Set(token, p, 0) /\ Send(p, "acquire") /\ UNCHANGED <<log, known, left, highest>>
Renew(p) == token[p] > 0 /\ left[p] > 0 /\ UNCHANGED <<log, known, campaign, term>> /\ Send(p, "renew")
StopWork(p) == left' = Set(left, p, 0) /\ UNCHANGED <<log, net, known, campaign, token, highest>>
Release(p) == /\ token[p] > 0 /\ (left[p] = 0 \/ Mistake = "release-before-work-stops")
              /\ UNCHANGED <<log, known, campaign, term>> /\ Send(p, "release")
Store(it) == /\ Len(log) < MaxVersion /\ log' = Append(log, it) /\ UNCHANGED <<known, campaign, term>>
             /\ net' = {w \in net : w.over = 0 /\ Events \cap {"delete", "delete-unseen"} # {}}
IsOver(w) == IF w.over = 0 THEN Current.kind = "absent" ELSE w.over = Len(log) \/ Mistake = "write-without-compare"
Commit(w) == IsOver(w) /\ Store([kind |-> w.kind, by |-> w.by, lease |-> w.lease, age |-> w.age, campaign |-> w.campaign,
                                 uid |-> IF w.over = 0 THEN Len(log) + 1 ELSE Current.uid, record |-> Len(log) + 1])
Annotate == "annotate" \in Events /\ Current.kind # "absent" /\ Store(Current)
(* The guarantee needs this: all candidates have seen the lock before somebody deletes it, and know a lease as long. *)
IsKnown == \A p \in Procs : Seen(p).uid = Current.uid /\ Max(longest[p], Lease(p)) >= Current.lease
Delete == Current.kind # "absent" /\ Store(Absent) /\ ("delete-unseen" \in Events \/ ("delete" \in Events /\ IsKnown))
WaitFor(p, it) == CASE it.kind = "absent" -> IF WaitsWhenAbsent(p) THEN Lease(p) ELSE 0
                    [] it.kind = "release" \/ it.by = p -> 0  \* a record that this process wrote: its term is over
                    [] OTHER -> IF Mistake = "wait-own-lease" THEN Lease(p) ELSE it.lease
(* A process may not heed the confirmation of its own write, for example because the renew deadline has passed. If its *)
(* term is lost, its work may go on until the hard deadline.                                                           *)
Observe(p, v, heeds) ==
  LET it == log[v]  old == Seen(p)  isOwn == it.by = p  earlier == IF Mistake = "token-restarts" THEN it.uid - 1 ELSE 0
      isSameRecord == it.kind # "absent" /\ it.record = old.record  \* only metadata changed: this is no renewal
      starts == /\ heeds /\ isOwn /\ token[p] = 0 /\ it.kind = "acquire" /\ it.age < Lease(p)
                /\ it.campaign = campaign[p] \/ Mistake = "start-from-old-campaign"
      continues == token[p] > 0 /\ (isSameRecord \/ (isOwn /\ it.kind = "renew" /\ it.uid = old.uid))
      age == IF Mistake = "count-from-answer" \/ (Mistake = "metadata-extends-term" /\ isSameRecord) THEN 0 ELSE it.age
      wasOwn == old.by = p /\ old.kind # "release" /\ old.age < Lease(p)
      isReplaced == old.uid # 0 /\ old.uid # it.uid /\ ~wasOwn /\ Mistake # "deletion-is-release"
      isWaiting == isSameRecord \/ (Mistake = "wait-from-first-sight" /\ old.by = it.by)
      lastLease == IF Mistake = "wait-last-seen-lease" THEN old.lease ELSE longest[p]
  IN /\ seen' = Set(seen, p, v) /\ longest' = Set(longest, p, Max(longest[p], it.lease))
     /\ campaign' = IF isOwn /\ (token[p] = 0 \/ continues) THEN campaign ELSE Set(campaign, p, campaign[p] + 1)
     /\ wait' = IF isWaiting THEN wait ELSE Set(wait, p, WaitFor(p, it))
     /\ vanished' = IF isReplaced THEN Set(vanished, p, Max(Lease(p), lastLease)) ELSE vanished
     /\ left' = IF starts \/ (heeds /\ continues /\ left[p] > 0) THEN Set(left, p, Minus(Lease(p), age)) ELSE left
     /\ token' = IF continues THEN token ELSE Set(token, p, IF starts THEN v - earlier ELSE 0)
     /\ highest' = Max(highest, token'[p]) /\ UNCHANGED <<log, net>>
(* A crash and a restart. The new process knows nothing, and no record is its own, whatever its identity. *)
Disown(w, p) == IF w.by = p THEN [w EXCEPT !.by = "nobody", !.age = Longest, !.campaign = 0] ELSE w
Restart(p) == /\ log' = [v \in DOMAIN log |-> Disown(log[v], p)] /\ net' = {Disown(w, p) : w \in net}
              /\ seen' = Set(seen, p, Len(log) - 1) /\ wait' = Set(wait, p, 0) /\ vanished' = Set(vanished, p, 0)
              /\ longest' = Set(longest, p, 0) /\ campaign' = Set(campaign, p, 0) /\ left' = Set(left, p, 0)
              /\ token' = Set(token, p, 0) /\ UNCHANGED highest
Down(f, d) == [p \in Procs |-> Minus(f[p], d)]        Older(w, d) == [w EXCEPT !.age = Minus(Longest, Minus(Longest - @, d))]
Pass(d) == /\ log' = [v \in DOMAIN log |-> Older(log[v], d)] /\ net' = {Older(w, d) : w \in net} /\ left' = Down(left, d)
           /\ wait' = Down(wait, d) /\ vanished' = Down(vanished, d) /\ UNCHANGED <<seen, longest, campaign, token, highest>>
Init == /\ log = <<Absent>> /\ net = {} /\ seen = All(0) /\ wait = All(0) /\ vanished = All(0) /\ longest = All(0)
        /\ campaign = All(0) /\ left = All(0) /\ token = All(0) /\ highest = 0
Next == \/ Pass(1) \/ Annotate \/ Delete \/ \E w \in net : Commit(w)
        \/ \E p \in Procs : \/ Acquire(p) \/ Renew(p) \/ StopWork(p) \/ Release(p) \/ ("restart" \in Events /\ Restart(p))
                            \/ \E v \in seen[p] + 1 .. Len(log), heeds \in BOOLEAN : Observe(p, v, heeds)
Spec == Init /\ [][Next]_<<log, net, known, campaign, term>>
MutualExclusion == \A p, q \in Procs : p # q => left[p] = 0 \/ left[q] = 0
TokensGrow == [][\A p \in Procs : token'[p] # token[p] => token'[p] = 0 \/ token'[p] > highest]_<<token, highest>>
=============================================================================
