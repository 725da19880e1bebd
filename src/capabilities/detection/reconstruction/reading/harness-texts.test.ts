import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isReminder,
  isSameNudge,
  isWrittenAnswer,
  readAddedObservation,
  readForm,
  readWrittenAction,
  readWrittenResult,
  stripReminders,
} from './harness-texts.ts'
import { readMessages } from './read-messages.ts'

describe('a result that a harness wrote as text', () => {
  test.each([
    ['Observation:\nnot found', 'not found', undefined],
    ['OBSERVATION: 12', '12', undefined],
    ['<returncode>0</returncode>\n<output>\nok\n</output>', undefined, undefined],
    ["[read_file for 'a.ts'] Result:\nempty", 'empty', undefined],
    [
      "Call id: call_1\nError:\nNo tool 'x'\nNow let's retry: do not repeat errors.",
      "No tool 'x'",
      true,
    ],
  ])('%s', (text, result, is_error) => {
    const read = readWrittenResult(text)
    expect(read?.is_error).toBe(is_error)
    if (result !== undefined) expect(read?.text).toBe(result)
    else expect(read).toBeDefined()
  })

  test.each(['Error: my build fails', 'I have an observation: it works', 'Result: 12', ''])(
    'not: %s',
    (text) => expect(readWrittenResult(text)).toBeUndefined(),
  )

  test('an observation behind the words of the model', () => {
    expect(readAddedObservation('\nObservation: none')).toBe('none')
    expect(readAddedObservation(' and more')).toBeUndefined()
  })
})

describe('an action that a model wrote as text', () => {
  test.each([
    ['Thought: x\nAction: search\nAction Input: {"q":"a"}', '', 'search', '{"q":"a"}'],
    [
      '**Action:** look up\nAction Input: cats\nObservation: none',
      '',
      'look up',
      '{"input":"cats"}',
    ],
    ['Action: stop', '', 'stop', '{}'],
    ['Thought: x\n<code>\nprint(1)\n</code>', '', 'code', '{"code":"print(1)"}'],
    ['I run it.\n```bash\nls -l\n```', '', 'bash', '{"command":"ls -l"}'],
  ])('%s', (said, sent, name, args) => {
    expect(readWrittenAction(said, sent)).toEqual({ name, args })
  })

  test('the client names the tool of a piece of code', () => {
    const said = '<code>\nprint(1)\n'
    const sent = `${said}</code>\nCalling tools:\n[{'function': {'name': 'python_interpreter'}}]`
    expect(readWrittenAction(said, sent)?.name).toBe('python_interpreter')
  })

  test.each(['Noted, thank you.', 'The action is done.', 'See <b>this</b>.'])('not: %s', (said) =>
    expect(readWrittenAction(said, said)).toBeUndefined(),
  )
})

describe('an answer as its client wrote it down', () => {
  const read = (message: object) => {
    const [first] = readMessages([message], 'assistant')
    if (first === undefined) throw new Error('no message')
    return first
  }
  const called = read({
    role: 'assistant',
    tool_calls: [{ id: 'call_1', function: { name: 'look', arguments: '{}' } }],
  })
  const sent = (content: string) => read({ role: 'assistant', content })

  test.each([
    [called, "Calling tools:\n[{'id': 'call_1'}]", true],
    [called, "Calling tools:\n[{'name': 'look'}]", true],
    [called, 'I look it up.', false],
    [sent('Thought: I look it up.'), 'Thought: I look it up.\nObservation: none', true],
    [sent('Thought: I look it up.'), 'Thought: I look it up.</code>', true],
    [
      sent('Thought: I look it up.'),
      'Thought: I look it up. And then I wrote a long letter to her.',
      false,
    ],
    [sent('Yes.'), 'Yes. No.', false],
  ])('%#', (said, text, is) => expect(isWrittenAnswer(said, sent(text))).toBe(is))
})

describe('reminders', () => {
  test.each([
    '<system-reminder>\nThe list is empty.\n</system-reminder>',
    '<environment_context><cwd>/a</cwd></environment_context>\n',
    '[system reminder] step 3 of 50',
  ])('%s', (text) => expect(isReminder(text)).toBe(true))

  test.each(['<system-reminder>a</system-reminder>\nFix it.', '<b>a</b>', 'Step 3', '[done]'])(
    'not: %s',
    (text) => expect(isReminder(text)).toBe(false),
  )

  test('are removed from texts, and nothing else is, as a naive reading does it', () => {
    const pieces = fc.array(
      fc.constantFrom('<system-reminder>', '</system-reminder>', 'a', '\n', '<b>', '</b>'),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('')
        expect(stripReminders(text)).toBe(
          text.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, ''),
        )
      }),
    )
  })

  test('tags without an end take no time', () => {
    const text = `${'<system-reminder>'.repeat(100_000)}</`
    expect(stripReminders(text)).toBe(text)
  })
})

describe('one sentence of a harness', () => {
  const same = (one: string, next: string) => isSameNudge(readForm(one), readForm(next))

  test.each([
    ['[step 1 of 50]', '[step 2 of 50]'],
    ['This is step 9 of 50.', 'This is step 10 of 50.'],
    [
      'You have 9 steps left. Answer as soon as you can.',
      'You have 8 steps left. Answer as soon as you can.',
    ],
  ])('%s', (one, next) => expect(same(one, next)).toBe(true))

  test.each([
    ['next', 'next'],
    ['order 17', 'order 18'],
    [
      'Please tell me what the state of my order 1234 is',
      'Please tell me what the state of my order 7 is',
    ],
    [
      'Use the tools, and do not ask the user for help.',
      'Use the tools, and ask the user for help, please.',
    ],
  ])('not: %s', (one, next) => expect(same(one, next)).toBe(false))
})
