import type { KeyExample } from './key-example.ts'

const reopening = { a: { reopen_within: '15m' } }
const repeating = { a: { grouping: { repeat: '10m' } } }
const fiveOpenings = [0, 4, 8, 12, 16].flatMap((at) => [`${at} a fires`, `${at + 2} a ends`])
const fourTimes = [0, 4, 8, 12].flatMap((at) => [`opened@${at}`, `resolved@${at + 2}`])
const steps = [
  { after: '5m', notify: ['lead'] },
  { after: '10m', notify: ['boss'] },
]

/** Examples of the life-cycle of incidents. */
export const lifeCycleExamples: readonly KeyExample[] = [
  {
    sentence: 'A firing opens, its end resolves, and the next firing opens a new incident.',
    ...{ entries: ['0 a fires', '3 a ends', '5 a fires'], until: 6 },
    marks: ['opened#1@0', 'resolved#1@3', 'opened#2@5'],
    messages: ['opened@0', 'resolved@3', 'opened@5'],
  },
  {
    sentence: 'Within `reopen_within` of a resolve the incident is reopened.',
    ...{ rules: reopening, entries: ['0 a fires', '3 a ends', '18 a fires'], until: 18 },
    marks: ['opened#1@0', 'resolved#1@3', 'reopened#1@18'],
    messages: ['opened@0', 'resolved@3', 'reopened@18'],
  },
  {
    sentence: 'Later than `reopen_within` after a resolve, a new incident is opened.',
    ...{ rules: reopening, entries: ['0 a fires', '3 a ends', '19 a fires'], until: 19 },
    marks: ['opened#1@0', 'resolved#1@3', 'opened#2@19'],
  },
  {
    sentence: 'Without `auto_resolve` the end of firing resolves nothing.',
    rules: { a: { auto_resolve: false } },
    ...{ entries: ['0 a fires', '3 a ends', '5 a fires', '9 resolve'], until: 9 },
    marks: ['opened#1@0', 'resolved#1@9'],
  },
  {
    sentence: 'Acknowledging an acknowledged one, resolving a resolved one: 200, nothing changes.',
    entries: ['0 a fires', '1 acknowledge', '2 acknowledge', '3 resolve', '4 resolve'],
    ...{ until: 5, answers: [200, 200, 200, 200] },
    marks: ['opened#1@0', 'acknowledged#1@1', 'resolved#1@3'],
  },
  {
    sentence: 'Other moves on a resolved one but reopen: 409.',
    entries: ['0 a fires', '1 resolve', '2 acknowledge', '3 assign', '4 reopen'],
    ...{ until: 5, answers: [200, 409, 409, 200] },
    marks: ['opened#1@0', 'resolved#1@1', 'reopened#1@4'],
  },
  {
    sentence: 'Reopening an old one while a newer one of its key is open: 409.',
    entries: ['0 a fires', '1 a ends', '2 a fires', '3 reopen #1', '4 a ends', '5 reopen #1'],
    ...{ until: 6, answers: [409, 200] },
    marks: ['opened#1@0', 'resolved#1@1', 'opened#2@2', 'resolved#2@4', 'reopened#1@5'],
  },
  {
    sentence: 'A firing attaches to the old incident that a person reopened.',
    entries: ['0 a fires', '1 a ends', '2 a fires', '4 a ends', '5 reopen #1', '6 a fires'],
    ...{ until: 7, answers: [200] },
    marks: ['opened#1@0', 'resolved#1@1', 'opened#2@2', 'resolved#2@4', 'reopened#1@5'],
  },
  {
    sentence: '`If-Match` is checked before the state.',
    entries: ['0 a fires', '1 acknowledge #1 v2', '2 acknowledge #1 v1', '3 resolve #1 v1'],
    ...{ until: 4, answers: [412, 200, 412] },
    marks: ['opened#1@0', 'acknowledged#1@2'],
  },
  {
    sentence: 'With a shared key, the incident is resolved when its last contributor ends.',
    rules: { a: {}, b: { notify: ['lead'] } },
    ...{ entries: ['0 a fires', '1 b fires', '2 a ends', '4 b ends'], until: 5 },
    marks: ['opened#1@0', 'resolved#1@4'],
    messages: ['opened@0', 'still_firing@1:lead', 'resolved@4:lead,ops'],
  },
  {
    sentence: 'With a shared key, the severity is raised and never lowered.',
    rules: { a: {}, b: { notify: ['lead'] } },
    entries: ['0 a fires low', '1 b fires critical', '2 b ends', '3 a raises high', '4 a ends'],
    ...{ until: 5, marks: ['opened#1@0', 'raised#1@1', 'resolved#1@4'] },
    messages: ['opened@0', 'severity_raised@1:lead,ops', 'resolved@4:lead,ops'],
  },
  {
    sentence: 'A slot before the opening of a known incident of the same key opens nothing.',
    rules: { a: {}, b: {} },
    ...{ entries: ['2 a fires', '4 a ends', '6 b fires high late 1', '7 b ends'], until: 9 },
    ...{ marks: ['opened#1@2', 'resolved#1@4'], messages: ['opened@2', 'resolved@4'] },
  },
  {
    sentence: 'A late slot before the resolve of a known incident opens nothing.',
    rules: { a: {}, b: {} },
    ...{ entries: ['2 a fires', '4 a ends', '6 b fires high late 4', '7 b ends'], until: 9 },
    ...{ marks: ['opened#1@2', 'resolved#1@4'], messages: ['opened@2', 'resolved@4'] },
  },
  {
    sentence: 'Reopened by a person, the incident is resolved when its quiet groups end.',
    entries: ['0 a fires', '1 resolve', '2 reopen', '4 a ends'],
    ...{ until: 5, answers: [200, 200] },
    marks: ['opened#1@0', 'resolved#1@1', 'reopened#1@2', 'resolved#1@4'],
    messages: ['opened@0', 'resolved@1', 'reopened@2', 'resolved@4'],
  },
  {
    sentence: 'Reopening an acknowledged one withdraws the acknowledgement.',
    entries: ['0 a fires', '1 acknowledge', '2 reopen', '3 reopen'],
    ...{ until: 5, answers: [200, 200, 200] },
    marks: ['opened#1@0', 'acknowledged#1@1', 'unacknowledged#1@2'],
    messages: ['opened@0', 'reopened@2'],
  },
  {
    sentence: 'Openings of newer incidents of the key count when a person reopens an old one.',
    entries: [...fiveOpenings.slice(0, 8), '15 reopen #1'],
    ...{ until: 20, answers: [200] },
    messages: [...fourTimes, 'flapping@15'],
  },
  {
    sentence: 'Late rows are notified once even when the condition is over: open, then resolved.',
    rules: { a: {}, b: {} },
    ...{ entries: ['2 a fires', '4 a ends', '7 b fires high late 5', '8 b ends'], until: 9 },
    messages: ['opened@2', 'resolved@4', 'opened@7', 'resolved@8'],
  },
  {
    sentence:
      'More than 4 openings in 1 h: stays open, one message, closes after 30 quiet minutes.',
    ...{ entries: fiveOpenings, until: 60 },
    messages: [...fourTimes, 'flapping@16', 'resolved@48'],
  },
  {
    sentence: 'A firing while flapping renews the 30 minutes and sends no message.',
    ...{ entries: [...fiveOpenings, '40 a fires', '41 a ends'], until: 80 },
    messages: [...fourTimes, 'flapping@16', 'resolved@71'],
  },
  {
    sentence: 'Reopenings count as openings.',
    ...{ rules: reopening, entries: fiveOpenings, until: 20 },
    messages: [
      ...fourTimes.map((name, index) => (index > 1 ? name.replace('opened', 'reopened') : name)),
      'flapping@16',
    ],
  },
  {
    sentence: "A person's resolve ends flapping.",
    entries: [...fiveOpenings, '19 resolve', '20 a fires', '22 a ends'],
    ...{ until: 30, answers: [200] },
    messages: [...fourTimes, 'flapping@16', 'resolved@19', 'opened@20', 'resolved@22'],
  },
]

/** Examples of messages: reminders, mutes, acknowledgements, escalation. */
export const messageExamples: readonly KeyExample[] = [
  {
    sentence: 'A reminder every `repeat`.',
    ...{ rules: repeating, entries: ['0 a fires', '25 a ends'], until: 40 },
    messages: ['opened@0', 'reminder@10', 'reminder@20', 'resolved@25'],
  },
  {
    sentence: 'No reminder while acknowledged.',
    ...{ rules: repeating, entries: ['0 a fires', '5 acknowledge', '25 a ends'], until: 40 },
    messages: ['opened@0', 'resolved@25'],
  },
  {
    sentence: 'After `ack_timeout` the incident is open again, and reminders continue.',
    rules: { a: { grouping: { repeat: '10m' }, ack_timeout: '8m' } },
    ...{ entries: ['0 a fires', '5 acknowledge', '25 a ends'], until: 40 },
    marks: ['opened#1@0', 'acknowledged#1@5', 'unacknowledged#1@13', 'resolved#1@25'],
    messages: ['opened@0', 'reminder@13', 'reminder@23', 'resolved@25'],
  },
  {
    sentence: '`ack_timeout` notifies the next escalation step only.',
    rules: { a: { ack_timeout: '8m', escalation: steps } },
    ...{ entries: ['0 a fires', '6 acknowledge', '20 a ends'], until: 40 },
    messages: ['opened@0', 'escalated@5:lead', 'escalated@14:boss', 'resolved@20:boss,lead,ops'],
  },
  {
    sentence: 'A step that `ack_timeout` notified is not notified again when it is due.',
    rules: { a: { ack_timeout: '2m', escalation: steps } },
    ...{ entries: ['0 a fires', '2 acknowledge', '20 a ends'], until: 40 },
    messages: ['opened@0', 'escalated@4:lead', 'escalated@10:boss', 'resolved@20:boss,lead,ops'],
  },
  {
    sentence: 'Unacknowledged incidents escalate; the last step repeats at `repeat`.',
    rules: { a: { grouping: { repeat: '15m' }, escalation: steps } },
    ...{ entries: ['0 a fires', '30 a ends'], until: 40 },
    messages: [
      ...['opened@0', 'escalated@5:lead', 'escalated@10:boss', 'reminder@15'],
      ...['escalated@25:boss', 'resolved@30:boss,lead,ops'],
    ],
  },
  {
    sentence: 'Steps that became due while muted are taken after it, one after the other.',
    rules: { a: { escalation: steps } },
    ...{ entries: ['0 a fires', '30 a ends'], mutes: [{ from: 1, to: 20 }], until: 40 },
    messages: [
      ...['opened@0', 'still_firing@20', 'escalated@20:lead', 'escalated@25:boss'],
      'resolved@30:boss,lead,ops',
    ],
  },
  {
    sentence: 'An `ack_timeout` while muted takes no step.',
    rules: { a: { ack_timeout: '8m', escalation: steps } },
    ...{ entries: ['0 a fires', '2 acknowledge', '21 a ends'], mutes: [{ from: 3, to: 20 }] },
    until: 30,
    messages: ['opened@0', 'still_firing@20', 'escalated@20:lead', 'resolved@21:lead,ops'],
  },
  {
    sentence: 'Escalation of a late firing counts from the opening, not from the slot.',
    rules: { a: { escalation: steps } },
    ...{ entries: ['30 a fires high late 10', '36 a ends'], until: 40 },
    messages: ['opened@30', 'escalated@35:lead', 'resolved@36:lead,ops'],
  },
  {
    sentence: 'A live rule escalates also if a shadow rule opened the incident.',
    rules: { a: { mode: 'shadow', notify: ['trial'] }, b: { escalation: steps } },
    ...{ entries: ['0 a fires', '3 b fires', '9 b ends', '10 a ends'], until: 20 },
    messages: ['still_firing@3', 'escalated@8:lead', 'resolved@10:lead,ops'],
  },
  {
    sentence: 'A live rule joins as a suppression ends: still firing once.',
    rules: { a: { mode: 'shadow' }, b: {} },
    ...{ entries: ['0 a fires', '5 b fires'], mutes: [{ from: 2, to: 5 }], until: 8 },
    messages: ['still_firing@5'],
  },
  {
    sentence: 'The channels of a shadow rule receive nothing, also beside a live rule.',
    rules: { a: { mode: 'shadow', notify: ['trial'] }, b: {} },
    ...{ entries: ['0 b fires', '1 a fires', '2 b ends', '3 a ends'], until: 8 },
    messages: ['opened@0', 'resolved@3'],
  },
  {
    sentence: 'While flapping there are no reminders: one message.',
    ...{ rules: repeating, entries: [...fiveOpenings.slice(0, 9), '50 a ends'], until: 60 },
    messages: [...fourTimes, 'flapping@16'],
  },
  {
    sentence: 'A reopening starts the escalation again.',
    rules: { a: { reopen_within: '15m', escalation: steps } },
    ...{ entries: ['0 a fires', '6 a ends', '8 a fires', '14 a ends'], until: 40 },
    messages: [
      ...['opened@0', 'escalated@5:lead', 'resolved@6:lead,ops'],
      ...['reopened@8', 'escalated@13:lead', 'resolved@14:lead,ops'],
    ],
  },
  {
    sentence: 'Opened and resolved while suppressed: no message.',
    ...{ entries: ['1 a fires', '3 a ends'], mutes: [{ from: 0, to: 5 }], until: 10 },
    ...{ marks: ['opened#1@1', 'resolved#1@3'], messages: [] },
  },
  {
    sentence: 'Resolved while suppressed is notified if "opened" had been delivered, at once.',
    ...{ entries: ['0 a fires', '3 a ends'], mutes: [{ from: 1, to: 5 }], until: 10 },
    messages: ['opened@0', 'resolved@3'],
  },
  {
    sentence: 'Reopened and resolved while suppressed: the resolve before was the last message.',
    rules: reopening,
    ...{ entries: ['0 a fires', '3 a ends', '5 a fires', '7 a ends'], until: 10 },
    ...{ mutes: [{ from: 4, to: 9 }], messages: ['opened@0', 'resolved@3'] },
  },
  {
    sentence: 'Still firing when a suppression ends.',
    ...{ entries: ['1 a fires', '9 a ends'], mutes: [{ from: 0, to: 5 }], until: 10 },
    messages: ['still_firing@5', 'resolved@9'],
  },
  {
    sentence: 'A suppression that another one continues does not end.',
    entries: ['1 a fires', '9 a ends'],
    mutes: [
      { from: 0, to: 5 },
      { from: 4, to: 7 },
    ],
    ...{ until: 10, messages: ['still_firing@7', 'resolved@9'] },
  },
  {
    sentence: 'A suppression that ends while acknowledged is silent, and so is the end.',
    entries: ['1 a fires', '2 acknowledge', '9 a ends'],
    ...{ mutes: [{ from: 0, to: 5 }], until: 10, messages: [] },
  },
  {
    sentence: 'Raised beyond the matcher of a suppression: notified.',
    entries: ['1 a fires high', '3 a raises critical', '9 a ends'],
    ...{ mutes: [{ from: 0, to: 5, up_to: 'high' }], until: 10 },
    messages: ['severity_raised@3', 'resolved@9'],
  },
  {
    sentence: 'A reminder that is due while suppressed is not sent later.',
    ...{ rules: repeating, entries: ['0 a fires'], mutes: [{ from: 8, to: 14 }], until: 25 },
    messages: ['opened@0', 'still_firing@14', 'reminder@24'],
  },
  {
    sentence: 'A snoozed incident is told again when its time is over.',
    ...{ rules: repeating, entries: ['0 a fires', '3 snooze for 15', '29 a ends'], until: 30 },
    marks: ['opened#1@0', 'snoozed#1@3', 'resolved#1@29'],
    ...{ messages: ['opened@0', 'still_firing@18', 'reminder@28', 'resolved@29'], answers: [200] },
  },
  {
    sentence: 'An acknowledged incident is silent when its snooze is over.',
    entries: ['0 a fires', '1 snooze for 5', '2 acknowledge', '9 a ends'],
    ...{ until: 10, messages: ['opened@0', 'resolved@9'], answers: [200, 200] },
  },
  {
    sentence: 'A snooze rests escalation, which starts again when the snooze is over.',
    rules: { a: { escalation: [{ after: '5m', notify: ['lead'] }] } },
    ...{ entries: ['0 a fires', '2 snooze for 10', '20 a ends'], until: 21 },
    messages: ['opened@0', 'still_firing@12', 'escalated@17:lead', 'resolved@20:lead,ops'],
  },
  {
    sentence: 'A person ends a snooze; without a snooze nothing changes.',
    entries: ['0 a fires', '1 snooze for 9', '4 unsnooze', '5 unsnooze', '6 a ends'],
    ...{ until: 12, messages: ['opened@0', 'still_firing@4', 'resolved@6'] },
    ...{ marks: ['opened#1@0', 'snoozed#1@1', 'unsnoozed#1@4', 'resolved#1@6'] },
    answers: [200, 200, 200],
  },
  {
    sentence: 'A resolve ends a snooze: the reopened incident is told.',
    rules: reopening,
    entries: ['0 a fires', '1 snooze for 20', '3 a ends', '5 a fires'],
    ...{ until: 8, messages: ['opened@0', 'resolved@3', 'reopened@5'] },
  },
  {
    sentence: 'A raised severity waits for the end of a snooze.',
    entries: ['0 a fires', '1 snooze for 6', '3 a raises critical'],
    ...{ until: 8, messages: ['opened@0', 'still_firing@7'] },
  },
  {
    sentence: 'A snooze may be longer or shorter; a resolved incident cannot be snoozed.',
    entries: [
      ...['0 a fires', '1 snooze for 20', '2 snooze for 2', '6 snooze for 4', '7 snooze for 3'],
      ...['8 a ends', '9 snooze for 3'],
    ],
    ...{ until: 11, messages: ['opened@0', 'still_firing@4', 'resolved@8'] },
    answers: [200, 200, 200, 200, 409],
  },
  {
    sentence: '`mode: shadow` sends no messages.',
    rules: { a: { mode: 'shadow' } },
    ...{ entries: ['0 a fires', '3 a ends'], until: 5 },
    ...{ marks: ['opened#1@0', 'resolved#1@3'], messages: [] },
  },
]
