import { describe, expect, test } from 'vitest'
import { findFault, isGuessedFault, type UseFacts } from './tool-fault.ts'

const silent = { tool: 'do_it', arguments: '{}', is_error: undefined, span_error: undefined }

function fault(text: string, about: Partial<UseFacts> = {}) {
  return findFault(text, { ...silent, ...about })
}

describe('an explicit outcome counts first', () => {
  test('is_error and the status of a span', () => {
    expect(fault('no such key', { is_error: true })).toBe('error')
    expect(fault('rate limit exceeded', { is_error: true })).toBe('outage')
    expect(fault('fine', { span_error: 'ValueError' })).toBe('error')
    expect(fault('', { span_error: 'ConnectionError: connection refused' })).toBe('outage')
  })
  test('an explicit success overrides the text', () => {
    expect(fault('Error: this is what the file says', { is_error: false })).toBeNull()
  })
})

describe('results that are errors', () => {
  test.each([
    'Error: file not found: a.txt',
    'ERROR: relation "users" does not exist',
    'FileNotFoundError: [Errno 2] No such file or directory',
    "TypeError: Cannot read properties of undefined (reading 'x')",
    "ENOENT: no such file or directory, open 'a.txt'",
    'Error executing tool: missing argument "path"',
    'Failed to parse the date "31.02."',
    'bash: foo: command not found',
    'cat: /tmp/x: No such file or directory',
    "Tool 'get_wether' not found",
    'Unknown tool: get_wether',
    '<tool_use_error>String to replace not found</tool_use_error>',
    '404 Not Found',
    '{"error":"no such customer"}',
    '{"error":{"message":"bad id","code":400}}',
    '{"success":false,"message":"order is closed"}',
    '{"isError":true,"content":[{"type":"text","text":"no"}]}',
    '{"type":"about:blank","title":"Not found","status":404}',
    '{"errors":[{"message":"no field"}],"data":null}',
    '{"exit_code":2,"stdout":"","stderr":"usage: x"}',
    'collected 3 items\nFAILED test_a\nexit code: 1',
    'Exit code 127\nsh: 1: nope: not found',
    'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1',
    'start\nTraceback (most recent call last):\n  File "a.py", line 1\nValueError: bad',
  ])('%s', (text) => {
    expect(fault(text)).toBe('error')
  })
})

describe('outages', () => {
  test.each([
    'Error: 429 Too Many Requests',
    'Error: Request failed with status code 503',
    'HTTP 502 Bad Gateway',
    'TimeoutError: timed out after 30 s',
    'Error: connect ECONNREFUSED 127.0.0.1:5432',
    '{"error":"rate limited","code":429}',
    '{"error":{"code":503,"message":"try later"}}',
    '{"status":500,"error":"Internal Server Error"}',
    'Exit code 124',
  ])('%s', (text) => {
    expect(fault(text)).toBe('outage')
  })
})

describe('results that only mention errors', () => {
  test.each([
    ['a log', 'read_file', '10:00 INFO start\n10:01 ERROR: could not connect\n10:02 INFO retried'],
    ['a log that starts with an error', 'get_logs', 'ERROR: x failed\nINFO ok\nINFO ok\nINFO ok'],
    ['a source file', 'read_file', 'class AppError extends Error {}\nthrow new AppError("x")'],
    ['a grep hit', 'grep', 'src/a.ts:12: throw new Error("no")'],
    ['a failed job as data', 'get_job', '{"id":7,"state":"failed","error":"out of memory"}'],
    ['an empty error', 'run', '{"stdout":"fine","error":""}'],
    ['a null error', 'run', '{"error":null,"data":{"x":1}}'],
    ['success', 'run', '{"success":true,"message":"no errors found"}'],
    ['a list of errors', 'list_errors', '[{"error":"a"},{"error":"b"}]'],
    ['prose', 'search', 'Error handling in Rust is explicit.'],
    ['a count', 'lint', 'Errors: 0\nWarnings: 3'],
    ['none', 'check', 'error: none'],
    ['exit code 0 behind words of errors', 'bash', 'test_error_path ... ok\nexit code: 0'],
    ['grep without a hit', 'bash', 'exit code: 1'],
    ['JSON without stderr', 'bash', '{"exit_code":1,"stdout":"","stderr":""}'],
    ['a rate', 'stats', 'Error rate: 0.3 %'],
    ['a status', 'get_status', '{"status":"failed","progress":30}'],
    ['an HTTP page about 404', 'fetch', '# How to fix 404 Not Found\nFirst, …'],
    ['an empty result', 'x', ''],
    ['a partial result', 'x', '{"data":{"a":1},"errors":[{"message":"b"}]}'],
  ])('%s', (_what, tool, text) => {
    expect(fault(text, { tool })).toBeNull()
  })
  test('a log that ends in a traceback, printed by cat', () => {
    const text = 'INFO a\nTraceback (most recent call last):\n  File "a"\nKeyError: 1'
    expect(fault(text, { tool: 'bash', arguments: '{"command":"cat app.log"}' })).toBeNull()
    expect(fault(text, { tool: 'bash', arguments: '{"command":"python a.py"}' })).toBe('error')
  })
})

test('long texts of one kind of character are read quickly, without a fault', () => {
  for (const char of [' ', 'a', '\n', '{', '[', 'Error', '0']) {
    expect(fault(char.repeat(400_000))).toBeNull()
  }
})

describe('a guess', () => {
  const isGuess = (text: string, about: Partial<UseFacts> = {}) =>
    isGuessedFault(text, { ...silent, ...about })
  const shell = { tool: 'bash', arguments: '{"command":"scan x"}' }

  test('is output of commands, readers, and of several lines', () => {
    expect(isGuess('ERROR: disk full', shell)).toBe(true)
    expect(isGuess('Error: one line of a file', { tool: 'read_file' })).toBe(true)
    expect(isGuess('Traceback (most recent call last):\n a\n b\n c\nnot the end')).toBe(true)
  })

  test('is a verdict with a message', () => {
    expect(isGuess('REJECTED: the income is too low')).toBe(true)
    expect(isGuess('FAILED_JOBS: backup')).toBe(true)
  })

  test('is not the word of the tool itself', () => {
    expect(isGuess('Error: no seats')).toBe(false)
    expect(isGuess('{"error":"no seats"}')).toBe(false)
    expect(isGuess('ERROR: disk full', { ...shell, is_error: true })).toBe(false)
    expect(isGuess('ERROR: disk full', { ...shell, span_error: 'x' })).toBe(false)
    expect(isGuess('ERROR: disk full\nexit code: 2', shell)).toBe(false)
    expect(isGuess('<tool_use_error>no such file</tool_use_error>', shell)).toBe(false)
    expect(isGuess('ls: cannot access x: No such file or directory', shell)).toBe(false)
  })
})

test.each([
  ['ERR_HOLIDAY: no pick-ups on 2026-05-25', 'error'],
  ['INVALID_IBAN: checksum', 'error'],
  ['ERROR LDAP 50 insufficient access rights', 'error'],
  ['refused: lower than last reading', 'error'],
  ['Rejected: too plain. Write a better one.', null],
  ['ERRORS: 0', null],
  ['FAILED: 0', null],
  ['INVALID entries are marked', null],
  ['FAILED_JOBS: 0', null],
  ['FAILED_JOBS: 3, DONE_JOBS: 9', null],
  ['REJECTED', null],
  ['FAILED tests: 0, passed: 12', null],
  ['ERROR_COUNT: 0', null],
  ['ERROR lines: 0', null],
  ['INVALID_ROWS: 0, VALID_ROWS: 12', null],
  ['Refused: 3 parcels, delivered: 40', null],
  ['DENIED claims this month: 12', null],
  ['EMAIL: ida@firm.example', null],
  ['EXPECTED: 5', null],
  ['EVENTS: none', null],
  ['EUROPE: 5', null],
  ['ESTIMATE: 5 days', null],
  ['ENOENT: no such file', 'error'],
  ['EACCES: permission denied', 'error'],
  ['EEXIST: file exists', 'error'],
  ['ECONNREFUSED: port 80', 'outage'],
  ['FAILED: the disk is full', 'error'],
])('codes of refusals: %s', (text, expected) => {
  expect(fault(text)).toBe(expected)
})
