import { conditionExamples, lateExamples } from './condition-examples.ts'
import type { Example } from './example.ts'

const days = [10, 10, 10, 10, 10, 10, 10]
const above = { baseline: { signal: 'tokens', max_ratio: 2, floor: 15 } }

/** Examples of baselines. MAD of `days` is 0. */
const baselineExamples: readonly Example[] = [
  {
    sentence: 'A baseline fires above `max_ratio` times the median.',
    ...{ rule: above, history: days, series: '20 21 20', phases: 'ofo' },
    transitions: ['fired@1', 'ended@2'],
  },
  {
    sentence: 'A baseline fires above the median + 5 MAD.',
    rule: above,
    history: [6, 7, 8, 10, 12, 13, 14],
    ...{ series: '25 26', phases: 'of', transitions: ['fired@1'] },
  },
  {
    sentence: 'A baseline fires above its floor.',
    rule: { baseline: { signal: 'tokens', max_ratio: 2, floor: 50 } },
    ...{ history: days, series: '50 51', phases: 'of', transitions: ['fired@1'] },
  },
  {
    sentence: 'The median of an even number of values is the mean of the two middle ones.',
    rule: above,
    history: [10, 10, 10, 10, 12, 12, 12, 12],
    ...{ series: '22 23', phases: 'of', transitions: ['fired@1'] },
  },
  {
    sentence: 'With fewer than 7 values a baseline waits.',
    ...{ rule: above, history: days.slice(1), series: '99', phases: 'o', transitions: [] },
  },
  {
    sentence: 'Samples below `min_samples` make a baseline false.',
    rule: { baseline: { signal: 'tokens', max_ratio: 2, floor: 15, min_samples: 5 } },
    ...{ history: days, series: '99 99', samples: '4 5', phases: 'of', transitions: ['fired@1'] },
  },
  {
    sentence: 'While partial, a sum above its baseline fires; a percentile waits.',
    rule: above,
    history: days,
    also: [{ after: 0, partial: 1, value: 99 }],
    ...{ series: '1 99', phases: 'ff', transitions: ['fired@1'] },
  },
  {
    sentence: 'While partial, a percentile above its baseline waits.',
    rule: { baseline: { signal: 'ttft_p95', max_ratio: 2, floor: 15 } },
    history: days,
    also: [{ after: 0, partial: 1, value: 99 }],
    ...{ series: '1 99', phases: 'of', transitions: ['fired@1'] },
  },
]

const burn = { signal: 'error_rate', objective: 0.75 }
const fast = { factor: 2, long: '1h', short: '5m' }
const slow = { factor: 0.8, long: '6h', short: '30m' }
const oneTier = { burn_rate: { ...burn, tiers: [fast] } }
const twoTiers = { burn_rate: { ...burn, tiers: [slow, fast] } }

/** Examples of burn rates; the limits are 50 % and 20 %. */
const burnRateExamples: readonly Example[] = [
  {
    sentence: 'A burn rate fires if bad/total is above the limit in the long and the short window.',
    rule: oneTier,
    tiers: [{ long: '51 50 51 51', short: '51 51 50 51' }],
    ...{ phases: 'foof', transitions: ['fired@0:high:2', 'ended@1', 'fired@3:high:2'] },
  },
  {
    sentence: '`min_bad` counts in the long window.',
    rule: { burn_rate: { ...burn, min_bad: 60, tiers: [fast] } },
    tiers: [{ long: '59 60', short: '99 51' }],
    ...{ phases: 'of', transitions: ['fired@1:high:2'] },
  },
  {
    sentence: 'A short window without items does not burn.',
    rule: oneTier,
    tiers: [{ long: '99 99', short: '_ 99' }],
    ...{ phases: 'of', transitions: ['fired@1:high:2'] },
  },
  {
    sentence: 'A long window that history does not fill yet waits.',
    rule: oneTier,
    tiers: [{ long: '99x2', short: '99x2', filled: '0 0 1' }],
    ...{ phases: 'oof', transitions: ['fired@2:high:2'] },
  },
  {
    sentence: 'The tiers share one incident, which shows the fastest tier that fires.',
    rule: twoTiers,
    tiers: [
      { long: '51', short: '51' },
      { long: '99', short: '99' },
    ],
    ...{ phases: 'f', transitions: ['fired@0:high:2'] },
  },
  {
    sentence: 'A faster tier raises the severity; a slower one never lowers it.',
    rule: twoTiers,
    tiers: [
      { long: '0 51 0 51 0', short: '0 51 0 51 0' },
      { long: '21x3 0', short: '21x3 0' },
    ],
    ...{ phases: 'ffffo', transitions: ['fired@0:medium:0.8', 'raised@1:high:2', 'ended@4'] },
  },
  {
    sentence: 'Late rows raise nothing.',
    rule: twoTiers,
    tiers: [
      { long: '0 0', short: '0 0' },
      { long: '21 21', short: '21 21' },
    ],
    also: [{ after: 0, late: 0, value: 99 }],
    ...{ phases: 'ff', transitions: ['fired@0:medium:0.8'] },
  },
  {
    sentence: 'Without items in any window there is no data.',
    rule: { ...oneTier, no_data: 'alerting' },
    tiers: [{ long: '0 _ 0', short: '0 _ 0' }],
    ...{ phases: 'ofo', transitions: ['fired@1', 'ended@2'] },
  },
  {
    sentence: 'Rates of a partial slot wait: a burn rate neither fires nor ends.',
    rule: oneTier,
    tiers: [{ long: '99 99 0 0', short: '99 99 0 0' }],
    ...{ lag_s: '600 0 600 0', phases: '-ffo', transitions: ['fired@1:high:2', 'ended@3'] },
  },
]

const single = { event: { match: { source: 'finding' } } }
const three = { event: { match: { source: 'finding' }, count: 3, within: '2m' } }

/** Examples of event rules; a series counts the matches that are stored at each slot. */
const eventExamples: readonly Example[] = [
  {
    sentence: 'One match opens at once.',
    ...{ rule: single, series: '0 1', phases: 'of', transitions: ['fired@1'] },
  },
  {
    sentence: 'An event incident without `keep_firing_for` ends by a person only.',
    rule: single,
    also: [{ after: 3, resolve: true }],
    ...{ series: '1 0x2 1', phases: 'fffof', transitions: ['fired@0', 'fired@4'] },
  },
  {
    sentence: 'An event incident ends `keep_firing_for` after its last match.',
    rule: { ...single, keep_firing_for: '2m' },
    ...{ series: '1 1 0 0 1', phases: 'fffof', transitions: ['fired@0', 'ended@3', 'fired@4'] },
  },
  {
    sentence: 'A match after `keep_firing_for` opens again, although no tick was between.',
    rule: { ...single, keep_firing_for: '2m' },
    ...{ series: '1 0 1', gap: [1], phases: 'f-f', transitions: ['fired@0', 'ended@2', 'fired@2'] },
  },
  {
    sentence: 'The window of `count` is half-open: a match as old as `within` does not count.',
    rule: three,
    ...{ series: '1 1 1', phases: 'ooo', transitions: [] },
  },
  {
    sentence: '`count` matches in `within` open.',
    rule: three,
    ...{ series: '1 0 1 2', phases: 'ooof', transitions: ['fired@3'] },
  },
  {
    sentence: 'The count starts again after a resolve.',
    rule: three,
    also: [{ after: 0, resolve: true }],
    ...{ series: '3 2 1', phases: 'oof', transitions: ['fired@0', 'fired@2'] },
  },
  {
    sentence: 'The match after `keep_firing_for` counts towards the next firing.',
    rule: { event: { ...three.event, count: 2 }, keep_firing_for: '1m' },
    ...{ series: '2 0 1 1', gap: [1], phases: 'f-of' },
    transitions: ['fired@0', 'ended@2', 'fired@3'],
  },
  {
    sentence: 'Events of a partial slot fire; the end waits.',
    rule: { ...single, keep_firing_for: '1m' },
    ...{ series: '1 0 0', lag_s: '600 600 0', phases: 'ffo', transitions: ['fired@0', 'ended@2'] },
  },
]

/** All examples of groups, by what they are about. */
export const groupExamples: readonly (readonly [string, readonly Example[]])[] = [
  ['conditions', conditionExamples],
  ['late rows', lateExamples],
  ['baselines', baselineExamples],
  ['burn rates', burnRateExamples],
  ['events', eventExamples],
]
