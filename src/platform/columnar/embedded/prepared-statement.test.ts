import { expect, test } from 'vitest'
import { EngineError } from './engine-error.ts'
import { isAboutStatements, killed, prepared } from './prepared-statement.ts'

test('a statement alone stays alone', () => {
  expect(prepared({ text: 'SELECT 1' })).toEqual({ before: '', text: 'SELECT 1' })
  expect(prepared({ text: 'SELECT 1', database: 'default' }).text).toBe('SELECT 1')
})

test('database, settings and parameters go before it, as text literals', () => {
  const statement = {
    text: 'SELECT {a:String}',
    database: 'd`\\',
    id: "i'd",
    settings: { max_threads: '2' },
    params: { a: "x'; DROP TABLE t; \\\0" },
  }
  const before = `USE \`d\\\`\\\\\`; SET log_comment = 'i\\'d', max_threads = '2', param_a = 'x\\'; DROP TABLE t; \\\\\\0'`
  expect(prepared(statement)).toEqual({ before: '', text: `${before}; SELECT {a:String}` })
})

test('nothing goes before an insert that carries its rows', () => {
  const text = 'INSERT INTO t FORMAT CSV\n1\n'
  const statement = { text, carries_rows: true, settings: { max_threads: '2' } }
  expect(prepared(statement)).toEqual({ before: "SET max_threads = '2'", text })
})

test('only statements about statements have their query_id translated, and wait for none', () => {
  expect(prepared(killed('x')).text).toBe(
    "SET param_id = 'x'; KILL QUERY WHERE Settings['log_comment'] = {id:String} ASYNC",
  )
  const asked = { text: "SELECT elapsed FROM system.processes WHERE query_id = 'x'" }
  expect(prepared(asked).text).toContain("WHERE Settings['log_comment'] = 'x'")
  expect(prepared({ text: 'SELECT query_id FROM t' }).text).toBe('SELECT query_id FROM t')
  expect([killed('x'), asked].map(isAboutStatements)).toEqual([true, true])
  for (const text of [
    'SELECT query_id FROM t',
    'SELECT a FROM (SELECT sum(n) AS a FROM t), system.processes',
    "INSERT INTO t SELECT elapsed FROM system.processes WHERE query_id = 'x'",
  ]) {
    expect(isAboutStatements({ text })).toBe(false)
  }
})

test('names that are no names, and NUL in a statement, are refused', () => {
  const wrong = [
    { text: 'SELECT 1', settings: { 'a = 1, b': '2' } },
    { text: 'SELECT 1', params: { 'a b': '2' } },
    { text: 'SELECT 1 \0' },
  ]
  for (const statement of wrong) expect(() => prepared(statement)).toThrow(EngineError)
})
