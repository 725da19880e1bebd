import type { Example } from './example.ts'

const keep2m = { keep_firing_for: '2m' }
const lag = { condition: { signal: 'ingest_lag', longer_than: '3m' } }
const absent = { condition: { signal: 'absent', window: '10m' } }
const below = { condition: { signal: 'trust_score', window: '10m', op: 'lt', threshold: '0.5' } }
const perTask = { condition: { signal: 'cost', window: '10m', threshold: 5, per: 'task' } }
const rate = { condition: { signal: 'error_rate', window: '10m', threshold: 5 } }

/** Examples of thresholds, `for`, `keep_firing_for`, `no_data`, forgetting, and moves by people. */
export const conditionExamples: readonly Example[] = [
  {
    sentence: 'A condition fires when value op threshold: equality is not above.',
    ...{ series: '5 5.5 5', phases: 'ofo', transitions: ['fired@1', 'ended@2'] },
  },
  {
    sentence: 'Thresholds are decimal strings, and `lt` fires below.',
    rule: below,
    ...{ series: '0.5 0.4 0.5', phases: 'ofo', transitions: ['fired@1', 'ended@2'] },
  },
  {
    sentence: 'Samples below `min_samples` make the condition false.',
    rule: { condition: { signal: 'cost', window: '10m', threshold: 5, min_samples: 3 } },
    ...{ series: '9x3', samples: '2 3 2 3', phases: 'ofof' },
    transitions: ['fired@1', 'ended@2', 'fired@3'],
  },
  {
    sentence: 'With `for`, a run of true slots that is as long as `for` fires.',
    rule: { for: '2m' },
    ...{ series: '0 9x2', phases: 'oppf', transitions: ['fired@3'] },
  },
  {
    sentence: 'A `for` between two slots fires at the next slot.',
    rule: { for: '90s' },
    ...{ series: '9x2', phases: 'ppf', transitions: ['fired@2'] },
  },
  {
    sentence: 'A false slot stops `for`: the next run begins at its own first slot.',
    rule: { for: '2m' },
    ...{ series: '9 9 0 9 9 9', phases: 'ppoppf', transitions: ['fired@5'] },
  },
  {
    sentence: '`keep_firing_for` counts from the last true slot.',
    rule: keep2m,
    ...{ series: '9 9 0 0', phases: 'fffo', transitions: ['fired@0', 'ended@3'] },
  },
  {
    sentence: 'A true slot renews `keep_firing_for`.',
    rule: keep2m,
    ...{ series: '9 0 9 0 0', phases: 'ffffo', transitions: ['fired@0', 'ended@4'] },
  },
  {
    sentence: 'With `no_data: ok`, the default, a slot without rows is false.',
    ...{ series: '9 _ 9', phases: 'fof', transitions: ['fired@0', 'ended@1', 'fired@2'] },
  },
  {
    sentence: 'A count or sum without rows is no data, not 0.',
    rule: {
      condition: { signal: 'loop_count', window: '10m', op: 'lte', threshold: 0 },
      no_data: 'keep',
    },
    ...{ series: '3 _ _ 0', phases: 'ooof', transitions: ['fired@3'] },
  },
  {
    sentence: 'With `no_data: alerting`, a slot without rows is true.',
    rule: { no_data: 'alerting', for: '1m' },
    ...{ series: '0 _ _ 0', phases: 'opfo', transitions: ['fired@2', 'ended@3'] },
  },
  {
    sentence: 'A rule that never saw a row waits, with any `no_data`.',
    rule: { no_data: 'alerting' },
    ...{ series: '_x3 0 _', phases: 'oooof', transitions: ['fired@4'] },
  },
  {
    sentence: '`no_data: keep` does not stop `for`, and does not fire by itself.',
    rule: { no_data: 'keep', for: '2m' },
    ...{ series: '9 _ _ 9', phases: 'pppf', transitions: ['fired@3'] },
  },
  {
    sentence: '`no_data: keep` begins no run.',
    rule: { no_data: 'keep', for: '2m' },
    ...{ series: '0 _ _ 9 9 9', phases: 'oooppf', transitions: ['fired@5'] },
  },
  {
    sentence: '`no_data: keep` does not renew `keep_firing_for`, and does not end firing.',
    rule: { no_data: 'keep', keep_firing_for: '2m' },
    ...{ series: '9 _ _ _ 0', phases: 'ffffo', transitions: ['fired@0', 'ended@4'] },
  },
  {
    sentence: '`for` does not run across a gap.',
    rule: { for: '2m' },
    ...{ series: '9 9 9 9 9 9', gap: [2], phases: 'pp-ppf', transitions: ['fired@5'] },
  },
  {
    sentence: '`keep_firing_for` runs across a gap.',
    rule: keep2m,
    ...{ series: '9 0 0 0', gap: [1, 2], phases: 'f--o', transitions: ['fired@0', 'ended@3'] },
  },
  {
    sentence: 'A restart changes nothing.',
    rule: { for: '2m' },
    also: [0, 1, 2].map((after) => ({ after, restart: true as const })),
    ...{ series: '9x2 0', phases: 'ppfo', transitions: ['fired@2', 'ended@3'] },
  },
  {
    sentence: 'A group that was never seen is not absent.',
    rule: absent,
    ...{ series: '_ _ 1 _ 1', phases: 'ooofo', transitions: ['fired@3', 'ended@4'] },
  },
  {
    sentence: '`ingest_lag` fires above its own field and needs no threshold.',
    rule: lag,
    ...{ series: '_x4', lag_s: '0 180 181 0', phases: 'oofo' },
    transitions: ['fired@2', 'ended@3'],
  },
  {
    sentence: '`ingest_lag` in a slot without lag has data, so its group is known.',
    rule: lag,
    ...{ series: '_x2', lag_s: '0 0', phases: 'oo', transitions: [] },
  },
  {
    sentence: 'A group without rows for 24 h is forgotten when it has no open incident.',
    rule: { interval: '1h' },
    ...{ series: '0 _x24', phases: `o${'o'.repeat(23)}-`, transitions: ['forgotten@24'] },
  },
  {
    sentence: 'A group with an open incident is not forgotten.',
    rule: { no_data: 'keep' },
    ...{ series: '9 _x5', forget_after: '3m', phases: 'ffffff', transitions: ['fired@0'] },
  },
  {
    sentence: 'A group with an open incident is kept after its firing ended.',
    rule: { auto_resolve: false },
    ...{ series: '9 0 _x3', forget_after: '3m', is_open: true, phases: 'foooo' },
    transitions: ['fired@0', 'ended@1'],
  },
  {
    sentence: 'A forgotten group that comes back begins again: it was never seen.',
    rule: { ...absent, keep_firing_for: '0s' },
    series: '1 _ 1 _x4',
    ...{ forget_after: '2m', phases: 'ofoffff', transitions: ['fired@1', 'ended@2', 'fired@3'] },
  },
  {
    sentence: 'Resolved by hand while the condition is true: quiet until it has been false once.',
    also: [{ after: 1, resolve: true }],
    ...{ series: '9 9 9 9 0 9', phases: 'fqqqof', transitions: ['fired@0', 'fired@5'] },
  },
  {
    sentence:
      'Resolved by hand: once the quiet has ended, late passes fire on no slot before the end.',
    also: [
      { after: 1, resolve: true },
      { after: 4, late: 2, value: 9 },
      { after: 5, late: 3, value: 9 },
    ],
    ...{ series: '9 9 9 9 0 0', phases: 'fqqqoo', transitions: ['fired@0'] },
  },
  {
    sentence: 'A slot without data that is kept does not end the quiet.',
    rule: { no_data: 'keep' },
    also: [{ after: 0, resolve: true }],
    ...{ series: '9 9 _ 9 0 9', phases: 'qqqqof', transitions: ['fired@0', 'fired@5'] },
  },
  {
    sentence: 'Resolved by hand while the condition is false again: the next true slot fires.',
    rule: keep2m,
    also: [{ after: 1, resolve: true }],
    ...{ series: '9 0 9', phases: 'fof', transitions: ['fired@0', 'fired@2'] },
  },
  {
    sentence: 'Resolving a group that is not firing keeps its phase.',
    rule: { for: '2m' },
    also: [{ after: 1, resolve: true }],
    ...{ series: '9 9 9', phases: 'ppf', transitions: ['fired@2'] },
  },
  {
    sentence: 'While partial, rates wait.',
    rule: rate,
    also: [{ after: 0, partial: 1, value: 9 }],
    ...{ series: '0 0 9', phases: 'oof', transitions: ['fired@2'] },
  },
  {
    sentence: 'While partial, resolves wait.',
    also: [{ after: 0, partial: 1, value: 0 }],
    ...{ series: '9 9 0', phases: 'ffo', transitions: ['fired@0', 'ended@2'] },
  },
  {
    sentence: 'While partial, `no_data` waits.',
    rule: { no_data: 'alerting' },
    also: [{ after: 0, partial: 1, value: null }],
    ...{ series: '0 0', phases: 'oo', transitions: [] },
  },
  {
    sentence: 'While partial, `absent` waits.',
    rule: absent,
    also: [{ after: 0, partial: 1, value: null }],
    ...{ series: '1 1', phases: 'oo', transitions: [] },
  },
  {
    sentence: 'While partial, sums that already exceed their threshold fire, once.',
    also: [
      { after: 0, partial: 1, value: 9 },
      { after: 0, partial: 1, value: 9 },
    ],
    ...{ series: '0 9', phases: 'ff', transitions: ['fired@1'] },
  },
  {
    sentence: 'A mean per task is no sum: while partial it waits.',
    rule: perTask,
    also: [{ after: 0, partial: 1, value: 9 }],
    ...{ series: '0 0', phases: 'oo', transitions: [] },
  },
  {
    sentence: 'While partial, `ingest_lag` fires.',
    rule: lag,
    also: [{ after: 0, partial: 1, value: null, lag_s: 181 }],
    ...{ series: '_ _', lag_s: '0 0', phases: 'fo', transitions: ['fired@1', 'ended@1'] },
  },
  {
    sentence:
      'Partial slots that exceed the threshold count for `for`, and keep firing beyond them.',
    rule: { for: '2m' },
    also: [1, 2, 3].map((partial) => ({ after: 0, partial, value: 9 })),
    ...{ series: '9 9 9 9 0', phases: 'ffffo', transitions: ['fired@2', 'ended@4'] },
  },
  {
    sentence: 'A partial slot at the catch-up limit is a gap: `for` does not run across it.',
    rule: { ...rate, for: '2m' },
    also: [{ after: 1, last: 2, value: 9 }],
    ...{ series: '9 9 _ 9 9 9', gap: [2], phases: 'pp-ppf', transitions: ['fired@5'] },
  },
  {
    sentence: 'A sum that exceeds its threshold at the catch-up limit is complete.',
    rule: { for: '2m' },
    also: [{ after: 0, last: 1, value: 9 }],
    ...{ series: '9 _ 9', gap: [1], phases: 'p-f', transitions: ['fired@2'] },
  },
]

/** Examples of late rows. */
export const lateExamples: readonly Example[] = [
  {
    sentence: 'Late rows may open, marked `late`; the next slot resolves what is over.',
    also: [{ after: 3, late: 2, value: 9 }],
    ...{ series: '0x3 0', phases: 'ooofo', transitions: ['fired@2 late', 'ended@4'] },
  },
  {
    sentence: 'The last 5 complete slots are evaluated again; an older one opens nothing.',
    also: [
      { after: 5, late: 0, value: 9 },
      { after: 6, late: 2, value: 9 },
    ],
    ...{ series: '0x6', phases: 'oooooof', transitions: ['fired@2 late'] },
  },
  {
    sentence: 'Late rows never resolve.',
    also: [{ after: 1, late: 1, value: 0 }],
    ...{ series: '9 9 9', phases: 'fff', transitions: ['fired@0'] },
  },
  {
    sentence: 'A slot before the opening of a known incident opens nothing.',
    also: [{ after: 4, late: 1, value: 9 }],
    ...{ series: '0 0 9 0 0', phases: 'oofoo', transitions: ['fired@2', 'ended@3'] },
  },
  {
    sentence: 'A slot before or at the end of a known incident opens nothing.',
    rule: keep2m,
    also: [
      { after: 4, late: 2, value: 9 },
      { after: 4, late: 3, value: 9 },
    ],
    ...{ series: '0 9 0 0 0', phases: 'offoo', transitions: ['fired@1', 'ended@3'] },
  },
  {
    sentence: 'Late rows join two runs, so that `for` is reached.',
    rule: { for: '3m' },
    also: [{ after: 3, late: 2, value: 9 }],
    ...{ series: '0 9 0 9 9 0', phases: 'opopfo', transitions: ['fired@4', 'ended@5'] },
  },
  {
    sentence: 'With `for`, a late slot opens if the run that ends with it is long enough.',
    rule: { for: '2m' },
    also: [{ after: 3, late: 2, value: 9 }],
    ...{ series: '9 9 0 0 0', phases: 'ppofo', transitions: ['fired@2 late', 'ended@4'] },
  },
  {
    sentence: 'Late rows do not end the quiet that a person asked for.',
    also: [
      { after: 1, resolve: true },
      { after: 2, late: 2, value: 0 },
    ],
    ...{ series: '9 9 9 9 0', phases: 'fqqqo', transitions: ['fired@0'] },
  },
  {
    sentence: 'Late rows of a partial slot change nothing.',
    also: [{ after: 2, late: 1, value: 9, lag_s: 600 }],
    ...{ series: '0 0 0', phases: 'ooo', transitions: [] },
  },
]
