import { answerOption, type Command, type Option } from '../command.ts'
import { aboutCredentials, pageOptions, readStatuses } from '../list-options.ts'
import { incidentFilters } from './incident-options.ts'

/** `looptrace incidents`: incidents, or one with its timeline. */
export const incidentsCommand: Command = {
  words: 'incidents',
  summary: 'Lists incidents, or shows one with its evidence and timeline',
  synopsis: '[number or id] [options]',
  about: [
    'Without an argument it lists the incidents of the project, newest first. Filters are for the list.\n' +
      '`looptrace incidents ack` and `looptrace incidents resolve` change them.',
    aboutCredentials('incidents:read'),
  ],
  options: { ...incidentFilters, ...pageOptions, output: answerOption },
  words_min: 0,
  words_max: 1,
  examples: [
    { command: 'looptrace incidents --state open --severity-min high', about: 'what is urgent' },
    { command: 'looptrace incidents 12', about: 'one incident by its number' },
  ],
  statuses: readStatuses,
  load: async () => (await import('./show-incidents.ts')).showIncidents,
}

const moveOptions = {
  note: { value: '<text>', about: 'Text for people, in the timeline.' },
  output: answerOption,
} satisfies Readonly<Record<string, Option>>

/** Incidents that one command changes at most. */
const moved_max = 100

/** `looptrace incidents ack`: acknowledges incidents. */
export const ackCommand: Command = {
  words: 'incidents ack',
  summary: 'Acknowledges incidents, which stops their reminders',
  synopsis: '<number or id> … [options]',
  about: [
    'Up to 100 incidents. An incident that is acknowledged already stays so.',
    aboutCredentials('incidents:write (a person: the role editor)'),
  ],
  options: moveOptions,
  words_min: 1,
  words_max: moved_max,
  examples: [{ command: 'looptrace incidents ack 12 13 --note mine', about: 'two incidents' }],
  statuses: {
    0: 'All incidents are acknowledged or resolved.',
    1: 'An incident does not exist.',
    2: 'The command line or a setting is invalid, or the API refuses a value.',
    3: 'The API does not answer, or refuses the credentials.',
  },
  load: async () => (await import('./move-incidents.ts')).acknowledge,
}

/** `looptrace incidents resolve`: resolves an incident. */
export const resolveCommand: Command = {
  words: 'incidents resolve',
  summary: 'Resolves an incident',
  synopsis: '<number or id> [options]',
  about: [
    'If its condition is still true, the rule stays quiet for this group until the condition was false once.',
    aboutCredentials('incidents:write (a person: the role editor)'),
  ],
  options: moveOptions,
  words_min: 1,
  words_max: 1,
  examples: [{ command: 'looptrace incidents resolve 12 --note fixed', about: 'one incident' }],
  statuses: {
    0: 'The incident is resolved.',
    2: 'The command line or a setting is invalid, or the API refuses a value.',
    3: 'The API does not answer, refuses the credentials or the change, or does not have the incident.',
  },
  load: async () => (await import('./move-incidents.ts')).resolve,
}
