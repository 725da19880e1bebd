import { expect, test } from 'vitest'
import { EngineError } from './engine-error.ts'
import { isAboutStatements, killStatement, prepareStatement } from './prepared-statement.ts'

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
