import { expect, test } from 'vitest'
import { noteKind } from '../../../test/support/kube/note-kind.ts'
import { type Kind, kinds as ownKinds } from '../../operator/index.ts'
import { lintResources } from './lint.ts'

const kinds: readonly Kind[] = [noteKind as Kind]

/** Returns findings as `line:column path: message`, with `?` before a warning. */
function findingsIn(...texts: string[]) {
  const files = texts.map((text, i) => ({ name: `${i}.yaml`, text }))
  const report = lintResources(kinds, files)
  const findings = report.findings.map(({ line, column, level, path, message }) => {
    return `${level === 'warning' ? '? ' : ''}${line}:${column} ${path}: ${message}`
  })
  return { ...report, findings }
}

const note = (name: string, spec = '{text: hi}') =>
  `apiVersion: looptrace.dev/v1alpha1\nkind: Note\nmetadata:\n  name: ${name}\nspec: ${spec}\n`

test.each<[string, string, string[]]>([
  ['a valid resource', note('a'), []],
  ['yes for true', note('a', '{text: hi, suspend: yes}'), []],
  [
    'JSON',
    `{"apiVersion":"looptrace.dev/v1alpha1","kind":"Note","metadata":{"name":"a"},"spec":{"text":"hi"}}`,
    [],
  ],
  ['a generated name', note('a').replace('name:', 'generateName:'), []],
  [
    'an unknown field',
    note('a', '\n  text: hi\n  txt: ho'),
    [
      '7:3 spec.txt: unknown field, expected one of className, suspend, resyncPeriod, deletionPolicy, text, secretName',
    ],
  ],
  ['a wrong type', note('a', '\n  text: 5'), ['6:9 spec.text: got 5, expected text']],
  ['a missing field', note('a', '\n  suspend: true'), ['6:3 spec: text is missing']],
  ['a missing spec', note('a').replace(/spec.*/, ''), ['1:1 : spec is missing']],
  [
    'an unknown field that has the name of a property of all objects',
    note('a', '\n  text: hi\n  constructor: ho'),
    [
      '7:3 spec.constructor: unknown field, expected one of className, suspend, resyncPeriod, deletionPolicy, text, secretName',
    ],
  ],
  [
    'a value through an alias',
    note('a', '\n  text: &long 5\n  secretName: *long').replace('5', 'hi'),
    [],
  ],
  ['a rule', note('a', '{text: never}'), ['1:1 : text: never says never']],
  [
    'a bad name',
    note('A_b'),
    ['4:9 metadata.name: got "A_b", expected lower-case letters, digits, - and . (RFC 1123)'],
  ],
  [
    'a bad label',
    note('a').replace('  name: a\n', '  name: a\n  labels: {team: a b}\n'),
    ['5:18 metadata.labels.team: got "a b", expected up to 63 letters, digits, -, _ and .'],
  ],
  [
    'a status',
    `${note('a')}status: {}\n`,
    ['? 6:1 status: is set by the operator; a value here is ignored'],
  ],
  [
    'another version',
    note('a').replace('v1alpha1', 'v2'),
    ['1:13 apiVersion: got "looptrace.dev/v2", expected looptrace.dev/v1alpha1'],
  ],
  [
    'no version',
    note('a').replace(/.*\n/, ''),
    ['1:1 apiVersion: got "", expected looptrace.dev/v1alpha1'],
  ],
  [
    'an unknown kind of the group',
    note('a').replace('Note', 'Nota'),
    ['2:7 kind: got "Nota", expected Note'],
  ],
  [
    'a known kind in another group',
    note('a').replace('looptrace', 'example'),
    ['? 1:13 apiVersion: skipped; a Note of this operator has looptrace.dev/v1alpha1'],
  ],
  [
    'invalid YAML',
    'a: [',
    ['1:5 : Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ],
  [
    'a key twice',
    note('a').replace('  name: a\n', '  name: a\n  name: b\n'),
    ['5:3 : Map keys must be unique'],
  ],
  ['no resource', '- 1\n- 2\n', ['1:1 : got [1,2], expected a resource']],
  ['nothing', '# nothing\n---\n', ['? 1:1 : no resource of looptrace.dev found']],
])('%s', (_name, text, expected) => {
  expect(findingsIn(text).findings).toEqual(expected)
})

test('positions are relative to the file, across documents', () => {
  const { findings, resources } = findingsIn(`${note('a')}---\n# more\n${note('b', '{text: 1}')}`)
  expect(findings).toEqual(['12:14 spec.text: got 1, expected text'])
  expect(resources).toBe(2)
})

test('a name is unique in a namespace, over all files of a folder', () => {
  const elsewhere = note('a').replace('  name', '  namespace: other\n  name')
  expect(findingsIn(note('a'), note('b'), elsewhere).findings).toEqual([])
  expect(findingsIn(note('a'), note('a')).findings).toEqual([
    '4:9 metadata.name: is also defined at 0.yaml:1, expected each name once',
  ])
})

test('the same name in two folders is allowed, for two clusters', () => {
  const files = ['east/a.yaml', 'west/a.yaml', 'west/b.yaml']
  const { findings } = lintResources(
    kinds,
    files.map((name) => ({ name, text: note('a') })),
  )
  expect(findings).toMatchObject([
    { file: 'west/b.yaml', message: 'is also defined at west/a.yaml:1, expected each name once' },
  ])
})

test('items of a List are checked, and other kinds are counted', () => {
  const items = `- ${note('a').replaceAll('\n', '\n  ')}\n- ${note('b', '{}').replaceAll('\n', '\n  ')}`
  const others = '---\napiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Pod\n---\nx: 1\n'
  const report = findingsIn(`apiVersion: v1\nkind: List\nitems:\n${items}\n${others}`)
  expect(report.findings).toEqual(['14:9 spec: text is missing'])
  expect(report.passed_over).toEqual({ Pod: 2, '(no kind)': 1 })
  expect(report.resources).toBe(2)
})

test('checks of the operator beyond the CRD are reported too', () => {
  const spec = noteKind.spec as Kind['spec']
  const stricter = spec.refine(() => false, 'expected something else') as Kind['spec']
  const { findings } = lintResources(
    [{ ...(noteKind as Kind), spec: stricter }],
    [{ name: 'a.yaml', text: note('a') }],
  )
  expect(findings).toMatchObject([{ path: 'spec', message: 'expected something else', line: 5 }])
})

test('a rule that can not be evaluated is a warning; one that uses oldSelf is skipped', () => {
  const rules = (rule: string) => [{ rule, message: 'no' }]
  const lintWith = (rule: string) =>
    lintResources(
      [{ ...(noteKind as Kind), rules: rules(rule) }],
      [{ name: 'a.yaml', text: note('a') }],
    ).findings
  expect(lintWith('isURL(self.spec.text)')).toMatchObject([{ level: 'warning' }])
  expect(lintWith('self.spec.text == oldSelf.spec.text')).toEqual([])
  expect(lintWith('self.spec.nothing == 1')).toMatchObject([{ level: 'error' }])
})

test('a type of findings that no detector has is a warning of its rule', () => {
  const text = `apiVersion: looptrace.dev/v1alpha1
kind: IncidentRule
metadata: {name: loops}
spec:
  projectRef: {name: a}
  severity: high
  event:
    match:
      source: finding
      kinds: [loop]
      types: [repeat_call, tool_failure]
`
  const { findings } = lintResources(ownKinds, [{ name: 'loops.yaml', text }])
  expect(findings).toMatchObject([
    {
      ...{ level: 'warning', line: 11, path: 'spec.event.match.types[1]' },
      message: expect.stringContaining('never matches'),
    },
  ])
})
