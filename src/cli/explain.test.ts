import { expect, test } from 'vitest'
import type { Arguments, CommandIo } from './command.ts'
import { explain } from './explain.ts'

async function explained(word: string, options: { recursive?: true; output?: string } = {}) {
  let printed = ''
  const args: Arguments = {
    words: [word],
    flag: () => options.recursive ?? false,
    value: () => options.output,
    values: () => [],
  }
  const io: CommandIo = {
    out: (text) => {
      printed += text
    },
    err: () => undefined,
    styled: (_style, text) => text,
    columns: () => undefined,
    time_zone: 'UTC',
    stdin: async () => '',
    now_ms: () => 0,
    stop: new AbortController().signal,
  }
  expect(await explain(args, io)).toBe(0)
  return printed
}

test.each([
  [
    'retpol',
    /KIND: +RetentionPolicy \(retentionpolicies, retpol\)[\s\S]*RULES:[\s\S]*spec <object> required/,
  ],
  ['RetentionPolicy.spec', /projectRef <object> required\n +A project/],
  [
    'retentionpolicies.spec.traces.days',
    /<integer, 1 to 36500>\n\nDESCRIPTION:\n {2}Retention in days/,
  ],
  [
    'ltsa.spec.keys',
    /list of object, up to 16, default \[\][\s\S]*RULES:[\s\S]*secretName <[^>]*> required/,
  ],
  ['ltsa.spec.keys.secretName', /FIELD: +spec\.keys\.secretName/],
  ['ltsa.status.conditions.reason', /Reason as one CamelCase word/],
])('explains %s', async (word, expected) => {
  expect(await explained(word)).toMatch(expected)
})

test('--recursive shows the whole tree, JSON the schema', async () => {
  expect(await explained('ltsa.spec', { recursive: true })).toMatch(
    /\n {2}keys <list of object.*\n {4}name <string/,
  )
  expect(JSON.parse(await explained('ltsa.spec.keys', { output: 'json' }))).toMatchObject({
    type: 'array',
    maxItems: 16,
  })
})

test.each([
  [
    'pod',
    'got "pod", expected a kind: IncidentRule (incrule), NotificationChannel (channel), Project (ltproj), ProjectGrant (grant), ProjectMember (ltmember), ReleasePolicy (relpol), RetentionPolicy (retpol)',
  ],
  ['retpol.spec.trace', 'got "trace", expected a field of spec: projectRef,'],
  ['retpol.spec.suspend.x', 'got "x", expected a field of spec.suspend: none'],
])('%s does not exist', async (word, message) => {
  await expect(explained(word)).rejects.toThrow(message)
})
