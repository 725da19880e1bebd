import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mayAct, readMarkedAction, readTextActions } from './read-text-actions.ts'
import { isInstruction, readTextFormat } from './text-format.ts'

/** The names that are read from an answer of an agent with these instructions. */
function namesIn(instructions: string, said: string): string {
  return actionsIn(instructions, said)
    .map(({ name }) => name)
    .join(',')
}

function actionsIn(instructions: string, said: string) {
  return mayAct(said) ? readTextActions(said, readTextFormat(instructions)) : []
}

const labels =
  'Answer by Thought, Action and Observation. Tools: lookup, search[query], finish[answer].'
const code = 'Write one ```python block per message; it is executed and the output follows.'
const json = 'Reply in JSON only. Tools: search(q), finish(a).'
const web =
  'You navigate a web browser. Actions: click [id], type [id] [text], goto URL, back, next, stop [answer]'

describe('actions that the instructions ask for', () => {
  test.each([
    ['a name and an input', labels, 'Thought: x\nAction: search\nAction Input: cats', 'search'],
    ['numbers', labels, 'Thought 1: x\nAction 1: search[Foo (band)]', 'search'],
    ['bold labels', labels, '**Thought:** x\n**Action:** search["cats"]', 'search'],
    ['a call', labels, 'Action: get_weather(city="Oslo", days=3)', 'get_weather'],
    [
      'JSON behind the label',
      labels,
      'Action:\n```json\n{"action":"lookup","action_input":{"id":3}}\n```',
      'lookup',
    ],
    [
      'words of a game',
      'Reply "> act: …"; think first, then act. Observation follows.',
      '> think: a\n> act: go to desk 1',
      'go',
    ],
    ['a signature without a label', labels, 'Thought: look.\nsearch[weir]', 'search'],
    [
      'a transcript',
      labels,
      'Action: lookup[a]\nObservation: 1\nThought: b\nAction: lookup[b]\nObservation: 2\nFinal Answer: 3',
      'lookup,lookup',
    ],
    ['a block', code, 'I count.\n```python\nprint(1)\n```', 'python'],
    [
      'a block and a few words',
      code,
      '```python\nprint(1)\n```\nNow I wait for the output.',
      'python',
    ],
    ['a tag of one tool', 'Use <bash>…</bash> to run things.', '<bash>ls</bash>', 'bash'],
    [
      'a tag with parameters',
      'XML tools, such as <read_file>',
      '<search_files>\n<path>a</path>\n</search_files>',
      'search_files',
    ],
    ['an empty tag', 'Tools by tags: <list/>, <get id="…"/>', 'One.\n<get id="7"/>', 'get'],
    [
      'a tag with JSON',
      'Call functions in <tool_call></tool_call> tags.',
      '<tool_call>{"name":"clock","arguments":{"tz":"CET"}}</tool_call>',
      'clock',
    ],
    [
      'a tag with a name',
      'Use <tool name="x">args</tool>. Tools: ticket',
      'I open one.\n<tool name="ticket">vpn</tool>',
      'ticket',
    ],
    [
      'two tags of a call',
      'Use <tool>name</tool><tool_input>…</tool_input>',
      '<tool>search</tool><tool_input>rain</tool_input>',
      'search',
    ],
    [
      'the tags of a model',
      'Tools: bash. <function=NAME>',
      '<function=bash>\n<parameter=command>ls</parameter>\n</function>',
      'bash',
    ],
    ['JSON', json, '{"thought":"a","tool":"search","args":{"q":"x"}}', 'search'],
    ['JSON behind words', json, 'I look.\n{"tool":"search","args":{"q":"x"}}', 'search'],
    [
      'JSON in a fence',
      json,
      '```json\n{"function":{"name":"search","arguments":{}}}\n```',
      'search',
    ],
    [
      'a list of calls',
      json,
      '{"tool_calls":[{"name":"a","arguments":{}},{"name":"b","arguments":{}}]}',
      'a,b',
    ],
    [
      'a key that the instructions quote',
      'You run tests; emit {"run": "<cmd>"} and read the reply, or {"report": "…"}',
      '{"run":"make test"}',
      'run',
    ],
    ['a click', web, 'The button.\nclick [12]', 'click'],
    ['a click within marks', web, 'The next action I will perform is ```click [12]```', 'click'],
    ['capitals', 'Web agent. CLICK <id> / STOP <answer>', 'CLICK 3', 'CLICK'],
    ['a label before a click', web, 'Action: click [12]', 'click'],
    [
      'an answer of some sentences',
      'Web agent: click N, answer',
      'answer At 8. It closes at 20.',
      'answer',
    ],
    [
      'a tool, its name and its input',
      'Thought/Tool/Input. Tools: calc, clock',
      'Tool: calc\nInput: 1+1',
      'calc',
    ],
    [
      'labels in German',
      'Gedanke, Aktion, Beobachtung.',
      'Gedanke: a\nAktion: suche[Wehr]',
      'suche',
    ],
    ['a name in JSON that is a tool', json, '{"name":"search","q":"x"}', 'search'],
    ['a type of an action', json, '{"action":{"type":"search","q":"x"}}', 'search'],
    [
      'tags behind the tag of a name',
      'Use <tool>name</tool>',
      '<tool>search</tool>\n<q>rain</q>',
      'search',
    ],
    [
      'a signature in a tag',
      'XML: <action>…</action>, tools',
      '<action>search[x]</action>',
      'search',
    ],
    ['an answer over lines', web, 'stop [first line\nsecond line]', 'stop'],
  ])('%s', (_name, instructions, said, names) => {
    expect(namesIn(instructions, said)).toBe(names)
  })

  test('arguments are JSON, and an observation of the same text belongs to its action', () => {
    const said =
      'Action: lookup[a]\nObservation: 1\nThought: b\nAction: lookup\nAction Input: {"id":3}'
    expect(actionsIn(labels, said)).toEqual([
      { name: 'lookup', args: '{"input":"a"}', observation: '1' },
      { name: 'lookup', args: '{"id":3}' },
    ])
    const written = '<write path="a.py">x = 1</write>'
    expect(actionsIn('XML tools: <write path="…">…</write>', written)).toEqual([
      { name: 'write', args: '{"path":"a.py","input":"x = 1"}' },
    ])
  })
})

describe('texts without an action', () => {
  test.each([
    ['a final answer', labels, 'Thought: I know.\nFinal Answer: 42'],
    ['no action', labels, 'Thought: x\nAction: None'],
    [
      'a call to action',
      'Write ads with a call to action: book now.',
      'Great!\n\nAction: Book now and save',
    ],
    [
      'code of a coding assistant',
      'You help with code. Use markdown code blocks and explain the output.',
      'Use this:\n```python\nprint(1)\n```',
    ],
    [
      'commands of a tutor',
      'You are a Linux tutor; commands go into ```bash blocks.',
      '```bash\nls\n```',
    ],
    [
      'code for the user, at the end',
      code,
      `It is 4. ${'You can run it yourself. '.repeat(3)}\n\`\`\`python\nprint(1)\n\`\`\`\n${'It needs no packages. '.repeat(12)}`,
    ],
    [
      'a translation in its tag',
      'Put the translation into <translation> tags.',
      '<translation>Hallo</translation>',
    ],
    ['HTML', 'You are a support bot. <tone>warm</tone>', 'Try <b>this</b>'],
    ['a tag in code', 'Tools by tags: <list/>', 'Write `<list/>` to see all.'],
    ['an answer in JSON', json, '{"answer":"x"}'],
    ['a null tool', json, '{"tool":null,"answer":"x"}'],
    ['extracted data', 'Extract name and amount as JSON.', '{"name":"Bob","input":3}'],
    [
      'a class',
      'Classify; answer {"action":"escalate"|"close"}',
      '{"action":"escalate","reason":"angry"}',
    ],
    ['a sentence that begins like an action', web, 'Next I would look at the menu.'],
    [
      'advice about pages',
      'You are a support agent for our web shop. Help users find and open pages.',
      'To change it:\nopen your profile\nclick Save',
    ],
    [
      'an explanation of clicks',
      'Help desk writer. You explain browser automation, you do not browse.',
      'click [12]\ngo_back',
    ],
    [
      'a decision about a ticket',
      'You decide how support tickets are handled. Reply in JSON only: {"action": "refund|escalate|close", "reason": "..."}',
      '{"action":"refund","reason":"late"}',
    ],
    [
      'a name for a function',
      'Suggest a name for code. Reply in JSON: {"function": "...", "reason": "..."}',
      '{"function":"parse_rows","reason":"it parses rows"}',
    ],
    [
      'a field of a form',
      'You fill forms. Emit JSON: {"name": "...", "input": "..."} for each field.',
      '{"name":"street","input":"Mill Lane 3"}',
    ],
    [
      'tags of a summary',
      'Put the summary in <summary> tags and the action items in <items> tags.',
      '<summary>All is well.</summary><items>Call Ida.</items>',
    ],
    [
      'tags that a reader is shown',
      'Put the summary in <summary> tags and the action items in <items> tags. The output is shown to the user.',
      '<summary>All is well.</summary><items>Call Ida.</items>',
    ],
    [
      'HTML without commands',
      'Use <p> and <h1> tags only. No scripts or commands.',
      '<h1>Tea</h1><p>Boil water.</p>',
    ],
    [
      'tags of a page',
      'Write pages. Use <title>, <body> and <keywords>. The keywords are for search functions.',
      '<title>Tea</title><body>Boil water.</body><keywords>tea, water</keywords>',
    ],
    [
      'an exercise',
      'You are a coach. Reply with "Thought: …" and "Action: …" for today.',
      'Thought: You sat a lot.\nAction: Walk for 20 minutes',
    ],
    [
      'a word of a game',
      'You are the game master in a chat app. The commands of players: look, open, take.',
      'Open',
    ],
    ['no instructions', '', '```bash\ngit reset --soft HEAD~1\n```'],
  ])('%s', (_name, instructions, said) => {
    expect(namesIn(instructions, said)).toBe('')
  })
})

test.each([
  [
    'Solve it with interleaving Thought, Action, Observation steps. Action can be Search[entity].',
    true,
  ],
  ['You can use tools by <tool>…</tool>; I reply with the result. Task: find x', true],
  ['What is the git command to undo my last commit?', false],
  [
    'Write a bash script that runs commands and prints results, and put the output in a block',
    false,
  ],
  ['Please fix this error, the output of my command is below: ```ls```', false],
])('instructions of a first message: %s', (text, is) => {
  expect(isInstruction(text)).toBe(is)
})

test('tags within each other end somewhere', () => {
  expect(namesIn('XML tools: <tool name="x">', '<tool>'.repeat(2_000))).toBe('')
})

test('a tag of blanks alone is not a tag', () => {
  expect(namesIn('XML tools: <tool name="x">', `<a${' '.repeat(16_000)}`)).toBe('')
})

test('any text is read in any dialect without an error, and in linear time', () => {
  const part = fc.constantFrom(
    ...[
      'Action: ',
      'Observation: ',
      '```bash\n',
      '```',
      '<tool name="a">',
      '</tool>',
      '{"tool":"a"',
      '}',
    ],
    ...['<a', '=', '[', ']', 'click [', '\n', ' ', 'x', '<function=b>', '"', '`'],
  )
  const formats = [labels, code, json, web, 'XML tools: <tool name="x">'].map(readTextFormat)
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      const text = parts.join('')
      for (const format of formats) {
        for (const { name, args } of readTextActions(text, format)) {
          expect(name).not.toBe('')
          expect(() => JSON.parse(args)).not.toThrow()
        }
      }
      readMarkedAction(text)
    }),
    { numRuns: 300 },
  )
})
