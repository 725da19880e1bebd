import { expect, test } from 'vitest'
import { EngineError } from './engine-error.ts'
import {
  isAboutStatements,
  killStatement,
  openStatementSlots,
  prepareStatement,
} from './statements.ts'

test('a plain statement is unchanged', () => {
  expect(prepareStatement({ text: 'SELECT 1' })).toEqual({ before: '', text: 'SELECT 1' })
  expect(prepareStatement({ text: 'SELECT 1', database: 'default' }).text).toBe('SELECT 1')
})

test('database, settings and parameters precede the statement, as text literals', () => {
  const statement = {
    text: 'SELECT {a:String}',
    database: 'd`\\',
    id: "i'd",
    settings: { max_threads: '2' },
    params: { a: "x'; DROP TABLE t; \\\0" },
  }
  const before = `USE \`d\\\`\\\\\`; SET log_comment = 'i\\'d', max_threads = '2', param_a = 'x\\'; DROP TABLE t; \\\\\\0'`
  expect(prepareStatement(statement)).toEqual({ before: '', text: `${before}; SELECT {a:String}` })
})

test('nothing precedes an insert that contains its rows', () => {
  const text = 'INSERT INTO t FORMAT CSV\n1\n'
  const statement = { text, carries_rows: true, settings: { max_threads: '2' } }
  expect(prepareStatement(statement)).toEqual({ before: "SET max_threads = '2'", text })
})

test('only statements about statements have their query_id translated, and never wait', () => {
  expect(prepareStatement(killStatement('x')).text).toBe(
    "SET param_id = 'x'; KILL QUERY WHERE Settings['log_comment'] = {id:String} ASYNC",
  )
  const asked = { text: "SELECT elapsed FROM system.processes WHERE query_id = 'x'" }
  expect(prepareStatement(asked).text).toContain("WHERE Settings['log_comment'] = 'x'")
  expect(prepareStatement({ text: 'SELECT query_id FROM t' }).text).toBe('SELECT query_id FROM t')
  expect([killStatement('x'), asked].map(isAboutStatements)).toEqual([true, true])
  for (const text of [
    'SELECT query_id FROM t',
    'SELECT a FROM (SELECT sum(n) AS a FROM t), system.processes',
    "INSERT INTO t SELECT elapsed FROM system.processes WHERE query_id = 'x'",
  ]) {
    expect(isAboutStatements({ text })).toBe(false)
  }
})

test('rejects invalid names, and NUL in a statement', () => {
  const wrong = [
    { text: 'SELECT 1', settings: { 'a = 1, b': '2' } },
    { text: 'SELECT 1', params: { 'a b': '2' } },
    { text: 'SELECT 1 \0' },
  ]
  for (const statement of wrong) expect(() => prepareStatement(statement)).toThrow(EngineError)
})

const limits = { running_max: 2, waiting_max: 1, refusal: (detail: string) => new Error(detail) }

test('runs and queues statements up to the limits, in order, and refuses the rest', async () => {
  const slots = openStatementSlots(limits)
  const begun: number[] = []
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const work = (index: number) =>
    slots.run(async () => {
      begun.push(index)
      await gates[index]?.promise
      return index
    })
  const [first, second, third] = [work(0), work(1), work(2)]
  await expect(work(3)).rejects.toThrow('2 statements run and 1 wait')
  expect(begun).toEqual([0, 1])
  gates[1]?.resolve()
  expect(await second).toBe(1)
  gates[2]?.resolve()
  expect(await third).toBe(2)
  expect(begun).toEqual([0, 1, 2])
  gates[0]?.resolve()
  expect(await first).toBe(0)
})

test('a failed statement frees its slot', async () => {
  const slots = openStatementSlots({ ...limits, running_max: 1 })
  await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await slots.run(async () => 'yes')).toBe('yes')
})

test('close refuses new statements and waits for accepted ones, with a time limit', async () => {
  const slots = openStatementSlots(limits)
  const gate = Promise.withResolvers<void>()
  let ended = false
  const running = slots.run(() => gate.promise).then(() => (ended = true))
  const closing = slots.close(60_000)
  await expect(slots.run(async () => 1)).rejects.toThrow('the server is stopping')
  gate.resolve()
  expect(await closing).toBe(true)
  await running
  expect(ended).toBe(true)

  const stuck = openStatementSlots(limits)
  stuck.run(() => new Promise<void>(() => undefined)).catch(() => undefined)
  expect(await stuck.close(1)).toBe(false)
})
