import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../test/corpus/agent-run.ts'
import { collectSeen } from './seen-sources.ts'

const invented = 'The refund of order 4711 is 129.50 euros and arrives on Friday.'

const sourcesOf = (rows: Parameters<typeof collectSeen>[0]) =>
  collectSeen(rows).seen.map(({ source, text }) => [source, text])

describe.each(['proxy', 'otlp', 'otlp_openinference', 'api'] as const)(
  'recorded by %s',
  (source) => {
    test('each text is collected once, at the first observation that has it', () => {
      const rows = agentRun('seen', { source, tools: ['look'] })
        .system('Be kind.')
        .user('Where is order 4711?')
        .tool({ name: 'look', args: { id: 4711 } }, 'in Lund since 9 March')
        .tool({ name: 'look', args: { id: 4712 } }, 'in Turku')
        .assistant('It is in Lund.')
        .observations()
      const { seen, question, gaps } = collectSeen(rows)
      expect(new Set(seen.map(({ text }) => text))).toEqual(
        new Set(['Be kind.', 'Where is order 4711?', 'in Lund since 9 March', 'in Turku']),
      )
      expect(seen.map(({ role }) => role).toSorted()).toEqual(['system', 'tool', 'tool', 'user'])
      expect(question).toBe('Where is order 4711?')
      expect(gaps).toEqual([])
      const first = rows.find(({ type }) => type === 'generation')
      const user = seen.find(({ role }) => role === 'user')
      expect(user?.place.observation_id).toBe(first?.observation_id)
      expect(seen.every(({ is_complete }) => is_complete)).toBe(true)
    })
  },
)

test('answers and arguments of calls are not sources', () => {
  const rows = agentRun('own', { tools: ['save'] })
    .user('Hello')
    .tool({ name: 'save', args: { note: invented } }, 'saved')
    .assistant(invented)
    .user('Thanks')
    .assistant('Bye.')
    .observations()
  expect(sourcesOf(rows)).toEqual([
    ['user message 1', 'Hello'],
    ['tool save', 'saved'],
    ['user message 2', 'Thanks'],
  ])
})

test('a summary that the client makes of answers counts for what the user wrote only', () => {
  const rows = agentRun('compacted', { tools: ['look'] })
    .user('Where is my refund?')
    .assistant(invented)
    .compact(`Earlier: the customer 88 asked. ${invented}`)
    .user('And then?')
    .assistant('Soon.')
    .observations()
  const texts = sourcesOf(rows).map(([, text]) => text)
  expect(texts.join('\n')).toContain('customer 88')
  expect(texts.join('\n')).not.toContain('129.50')
  const summary = texts.find((text) => text?.includes('customer 88'))
  expect(summary).toHaveLength(`Earlier: the customer 88 asked. ${invented}`.length)
})

test('the instructions that an agent writes for a sub-agent are its own words', () => {
  const rows = agentRun('sub', { tools: ['delegate'] })
    .user('Book something.')
    .assistant({ calls: [{ name: 'delegate', args: { task: invented } }] })
    .parallel((agent) => agent.user(invented).assistant('ok'))
    .observations()
  expect(rows.filter(({ input }) => input.includes('129.50')).length).toBeGreaterThan(0)
  expect(sourcesOf(rows)).toEqual([['user message 1', 'Book something.']])
})

test('a long text of the user stays a source when the agent repeats it', () => {
  const long = `Please check: ${invented}`
  const rows = agentRun('quoted', { tools: ['check'] })
    .user(long)
    .tool({ name: 'check', args: { text: long } }, 'fine')
    .assistant(long)
    .user('Good')
    .assistant('Done')
    .observations()
  expect(sourcesOf(rows)).toContainEqual(['user message 1', long])
})

test('cut, missing and masked contents and images are not complete', () => {
  const [row] = agentRun('gaps').user('x').assistant('y').observations()
  if (row === undefined) throw new Error('no row')
  const image = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]
  const cut = `{"messages":[{"role":"user","content":"abc`
  const rows = [
    { ...row, input: JSON.stringify([{ role: 'user', content: image }]) },
    { ...row, input: JSON.stringify([{ role: 'user', content: 'card [masked:pan]' }]) },
    { ...row, input: cut, content_state: 'truncated' as const },
    {
      ...row,
      ...{ input: '', output: '', content_state: 'dropped' as const },
      ...{ start_time: row.end_time + 1n, end_time: row.end_time + 2n },
    },
  ]
  const { seen, gaps } = collectSeen(rows)
  expect(seen.map(({ is_complete }) => is_complete)).toEqual([false, false])
  expect(gaps).toEqual([
    'The content of 1 observation was cut.',
    'The content of 1 observation is not stored.',
  ])
})

test('a call that a second instrumentation reports without content leaves no gap', () => {
  const rows = agentRun('twice').user('x').assistant('y').observations()
  const silent = rows.map((row) => ({
    ...row,
    observation_id: `${row.observation_id}-2`,
    ...{ input: '', output: '', content_state: 'dropped' as const, source: 'otlp' as const },
  }))
  expect(collectSeen([...silent, ...rows]).gaps).toEqual([])
  const later = silent.map((row) => ({
    ...row,
    start_time: row.end_time + 1n,
    end_time: row.end_time + 2n,
  }))
  expect(collectSeen([...rows, ...later]).gaps).toHaveLength(1)
})

test('hostile texts take bounded time', () => {
  const [row] = agentRun('hostile').user('x').assistant('y').observations()
  if (row === undefined) throw new Error('no row')
  const words = Array.from({ length: 2_000 }, (_, at) => ({
    role: at % 2 === 0 ? 'assistant' : 'user',
    content: `${at} ${'a'.repeat(500)}`,
  }))
  const start_ms = performance.now()
  const { seen } = collectSeen([{ ...row, input: JSON.stringify(words) }])
  expect(seen).toHaveLength(1_000)
  expect(performance.now() - start_ms).toBeLessThan(5_000)
})

test('names of tools are short lines, and each source has its own', () => {
  const long = `look\n\u202e${'x'.repeat(1_000_000)}`
  const run = agentRun('names', { tools: ['look', 'look (2)', long] }).user('Look.')
  for (const [at, name] of ['look', 'look', 'look (2)', long].entries()) {
    run.tool({ name, args: { at } }, `result ${at}`)
  }
  const names = sourcesOf(run.assistant('Done.').observations()).map(([source = '']) => source)
  expect(new Set(names).size).toBe(5)
  for (const name of names) {
    expect(name.length).toBeLessThan(200)
    expect(name).not.toMatch(/[\p{Cc}\u2028-\u202e]/u)
  }
})
