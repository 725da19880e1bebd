import { doubledByProxy, withoutTools } from './doubled-rows.ts'
import { healthy, type LabelledRun } from './labelled-run.ts'

const manyTools = Array.from({ length: 90 }, (_, at) => ({
  name: `crm_${at}`,
  description: `Works on records of the kind ${at}. ${'It takes the id of a record. '.repeat(8)}`,
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
}))

const order = {
  name: 'order',
  parameters: {
    type: 'object',
    properties: {
      items: { type: 'array', items: { $ref: '#/$defs/item' }, minItems: 1 },
      gift: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
      total: { type: 'number' },
    },
    required: ['items'],
    $defs: {
      item: { type: 'object', properties: { sku: { type: 'string' }, n: { type: 'integer' } } },
    },
  },
}

/** Healthy runs in the formats that real clients produce. */
export const hardHealthyRuns: readonly LabelledRun[] = [
  healthy('documents are classified one call each, with one system text', (run) => {
    run
      .system('Classify the text: sport, politics or other.')
      .user('The cup final ended 2–1.')
      .assistant('sport')
    for (const text of [
      'The senate voted.',
      'A recipe for bread.',
      'The marathon is on Sunday.',
      'Rain tomorrow.',
      'A new minister.',
    ]) {
      run
        .reset()
        .system('Classify the text: sport, politics or other.')
        .user(text)
        .assistant(text.includes('e') ? 'other' : 'sport')
    }
    return run
  }),
  healthy(
    'chapters are summed up one by one and then together',
    (run) => {
      run
        .system('Summarise the chapter.')
        .user('Chapter 1: a boy finds a map.')
        .assistant('A boy finds a map.')
      run
        .reset()
        .system('Summarise the chapter.')
        .user('Chapter 2: he sails to the island.')
        .assistant('He sails to an island.')
      run
        .reset()
        .system('Summarise the chapter.')
        .user('Chapter 3: he digs and finds gold.')
        .assistant('He finds gold.')
      return run
        .reset()
        .system('Write one summary of these summaries.')
        .user('A boy finds a map. He sails to an island. He finds gold.')
        .assistant('A boy follows a map to an island and finds gold.')
    },
    { source: 'otlp' },
  ),
  healthy('a title is made on the side', (run) =>
    run
      .system('You are a chat assistant.')
      .user('How do bees find their way?')
      .assistant('By the sun and by landmarks.')
      .parallel((side) =>
        side
          .system('Make a title of three words for the chat.')
          .user('How do bees find their way?')
          .assistant('How bees navigate'),
      )
      .user('And at night?')
      .assistant('Most of them stay at home at night.'),
  ),
  healthy(
    'a router decides before each answer',
    (run) => {
      for (const [question, route, answer] of [
        ['Where is my parcel?', 'shipping', 'It arrives on Friday.'],
        ['And can I send it back?', 'returns', 'Yes, within 30 days.'],
      ] as const) {
        run.parallel((side) =>
          side.system('Answer with the name of the desk.').user(question).assistant(route),
        )
        run.user(question).assistant(answer)
      }
      return run
    },
    { source: 'otlp' },
  ),
  healthy(
    'the agent asks for a yes before each change',
    (run) =>
      run
        .system(
          'Before each change of a booking, list it and ask for a yes. Monday: 9:10, seat 12A is free. A bag costs 30 euros.',
        )
        .user('Move my flight to Monday, please.')
        .assistant('Your flight moves to Monday at 9:10. Would you like to proceed? (yes/no)')
        .user('yes')
        .tool({ name: 'update_flight', args: { day: 'mon' } }, '{"ok":true}')
        .assistant('It is moved.')
        .user('And add a bag.')
        .assistant('One bag costs 30 euros. Would you like to proceed? (yes/no)')
        .user('yes')
        .tool({ name: 'add_bag', args: { n: 1 } }, '{"ok":true}')
        .assistant('The bag is added.')
        .user('And a seat at the window.')
        .assistant('Seat 12A is free of charge. Would you like to proceed? (yes/no)')
        .user('yes')
        .tool({ name: 'set_seat', args: { seat: '12A' } }, '{"ok":true}')
        .assistant('You sit in 12A.'),
    { tools: ['update_flight', 'add_bag', 'set_seat'], model: 'gpt-4o' },
  ),
  healthy('the number of another order is asked for', (run) =>
    run
      .system('You are the support agent of a shop.')
      .user('My order number is 100 and I want to return it.')
      .assistant('Order 100 can be returned until Friday.')
      .user('I want to return the other order too.')
      .assistant('Gladly. What is the number of the other order?')
      .user('101')
      .assistant('Order 101 can be returned until Sunday.'),
  ),
  healthy('two orders have two numbers', (run) =>
    run
      .user('I have two orders: 55 is the lamp, 56 is the chair. When do they come?')
      .assistant('Order 55, the lamp, comes on Monday; order 56, the chair, on Thursday.')
      .user('And which is the heavier one?')
      .assistant('The chair, order 56.'),
  ),
  healthy('the answer follows the language of the user', (run) =>
    run
      .system('Answer in the language of the user.')
      .user('What is a glacier?')
      .assistant('A glacier is a mass of ice that moves slowly down a mountain.')
      .user('Et une moraine ?')
      .assistant(
        'Une moraine est un amas de débris que le glacier transporte et dépose sur ses bords.',
      ),
  ),
  healthy(
    'words before a call are no JSON, and the answer is',
    (run) =>
      run
        .system('Your final answer must be a JSON object only.')
        .user('The weather in Turin?')
        .tool(
          {
            name: 'weather',
            args: { city: 'Turin' },
            text: 'Let me look up the weather in Turin.',
          },
          '{"c":19}',
        )
        .assistant('{"city":"Turin","c":19}'),
    { tools: ['weather'] },
  ),
  healthy('a limit of words, and code that is longer', (run) =>
    run
      .system('Keep explanations under 40 words.')
      .user('A function that adds two numbers, in Python, with a test.')
      .assistant(
        'Here it is:\n\n```python\ndef add(a, b):\n    return a + b\n\n\ndef test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n    assert add(-1, 1) == 0\n    assert add(2, 2) == 4\n    assert add(10, 5) == 15\n    assert add(7, 8) == 15\n```\n\nRun it with pytest.',
      ),
  ),
  healthy(
    'an answer is handed in by a tool, and that is the end',
    (run) =>
      run
        .system('Hand in your answer with submit.')
        .user('What is 17 · 3?')
        .tool({ name: 'calculator', args: { expression: '17*3' } }, '51')
        .assistant({ calls: [{ name: 'submit', args: { answer: '51' } }] }),
    { tools: ['calculator', 'submit'] },
  ),
  healthy(
    'what can not be found is told',
    (run) =>
      run
        .user('Where is the file notes.txt?')
        .tool({ name: 'find', args: { name: 'notes.txt' } }, '')
        .assistant(
          "I can't find a file called notes.txt in this folder. The closest one is note.md.",
        ),
    { tools: ['find'] },
  ),
  healthy(
    'one of ninety tools, beyond what is kept of the request',
    (run) =>
      run
        .user('Show record x of kind 88.')
        .tool({ name: 'crm_88', args: { id: 'x' } }, '{"id":"x"}')
        .assistant('Record x: no fields.'),
    { tools: manyTools },
  ),
  healthy(
    'arguments by references and alternatives',
    (run) =>
      run
        .user('Order two of A-1.')
        .tool(
          {
            name: 'order',
            args: { items: [{ sku: 'A-1', n: 2.0 }], gift: null, total: 4, note: 'ring' },
          },
          'ok',
        )
        .assistant('Ordered.'),
    { tools: [order], source: 'otlp' },
  ),
  healthy(
    'results come in another order than the calls',
    (run) =>
      run
        .user('Time in Tokyo and Lima?')
        .assistant({
          calls: [
            { name: 'time', args: { in: 'Tokyo' }, id: 'c1' },
            { name: 'time', args: { in: 'Lima' }, id: 'c2' },
          ],
        })
        .results([
          { text: '03:00', id: 'c2', after_ms: 90 },
          { text: '17:00', id: 'c1', after_ms: 600 },
        ])
        .assistant('17:00 in Tokyo and 3:00 in Lima.'),
    { tools: ['time'] },
  ),
  healthy(
    'two equal calls, told by the client and by the proxy',
    (run) =>
      run
        .system('You watch a door.')
        .user('Is it shut?')
        .tool({ name: 'door' }, 'open')
        .tool({ name: 'door' }, 'open')
        .assistant('It is open.'),
    { source: 'otlp', rows: doubledByProxy, tools: ['door'] },
  ),
  healthy(
    'one mail, told by the client and by the proxy',
    (run) =>
      run
        .user('Tell Ana that I am late.')
        .tool({ name: 'send_email', args: { to: 'ana@example.org', body: 'I am late.' } }, 'sent')
        .assistant('Ana knows.'),
    { source: 'otlp', rows: doubledByProxy, tools: ['send_email'] },
  ),
  healthy(
    'nobody told of the tools, and content is off',
    (run) =>
      run
        .user('x')
        .times(4, (agent, at) => agent.tool({ name: 'step', args: { at } }, `${at}`))
        .assistant('y'),
    { source: 'otlp_no_content', rows: withoutTools },
  ),
  healthy(
    'spans of calls alone tell arguments and results',
    (run) =>
      run
        .user('Sum up a, b and c.')
        .times(3, (agent, at) =>
          agent.tool({ name: 'read', args: { file: 'abc'[at] } }, `text ${at}`),
        )
        .assistant('Three texts.'),
    { source: 'otlp', rows: withoutTools, tools: ['read'] },
  ),
  healthy(
    'commands whose exit code is an answer, and then all is done',
    (run) =>
      run
        .system('You are a coding agent with a shell.')
        .user('Remove the dead flag and run the tests.')
        .tool({ name: 'bash', args: { cmd: 'sed -i /DEAD/d flags.py' } }, '[exit code: 0]')
        .tool({ name: 'bash', args: { cmd: 'pytest -q' } }, '31 passed\n[exit code: 0]')
        .tool({ name: 'bash', args: { cmd: 'grep -rn DEAD .' } }, '[exit code: 1]')
        .assistant('Done: the flag is gone, nothing refers to it any more, and all 31 tests pass.'),
    { tools: ['bash'] },
  ),
  healthy(
    'a clean-up fails at the end and does not matter',
    (run) =>
      run
        .user('Build the docs.')
        .tool({ name: 'bash', args: { cmd: 'make docs' } }, 'docs written to out/\n[exit code: 0]')
        .tool(
          { name: 'bash', args: { cmd: 'rm tmp.log' } },
          "rm: cannot remove 'tmp.log': No such file or directory\n[exit code: 1]",
        )
        .assistant('The docs are in out/. There was no tmp.log to remove.'),
    { tools: ['bash'], may: ['tool_failure'] },
  ),
  healthy(
    'a file with the word error in every line is read',
    (run) =>
      run
        .user('Explain errors.py.')
        .tool(
          { name: 'read_file', args: { path: 'errors.py' } },
          'class AppError(Exception):\n    pass\n\nclass NotFoundError(AppError):\n    """Error: not found."""\n\ndef raise_error():\n    raise AppError("failed")',
        )
        .tool(
          { name: 'read_file', args: { path: 'test_errors.py' } },
          'def test_error():\n    with raises(AppError):\n        raise_error()',
        )
        .tool(
          { name: 'read_file', args: { path: 'errors.md' } },
          '# Errors\n\nError 404: not found\nError 500: failed',
        )
        .assistant('It defines AppError and NotFoundError and a function that raises the first.'),
    { tools: ['read_file'] },
  ),
  healthy(
    'staged and staged again between commits',
    (run) =>
      run
        .system('You are a coding agent with a shell.')
        .user('Two commits: one for each module.')
        .tool({ name: 'bash', args: { cmd: './gen.sh a' } }, 'a written')
        .tool({ name: 'bash', args: { cmd: 'git add -A' } }, '')
        .tool({ name: 'bash', args: { cmd: 'git commit -m a' } }, '[main 1] a')
        .tool({ name: 'bash', args: { cmd: './gen.sh b' } }, 'b written')
        .tool({ name: 'bash', args: { cmd: 'git add -A' } }, '')
        .tool({ name: 'bash', args: { cmd: 'git commit -m b' } }, '[main 2] b')
        .tool({ name: 'bash', args: { cmd: './gen.sh c' } }, 'c written')
        .tool({ name: 'bash', args: { cmd: 'git add -A' } }, '')
        .tool({ name: 'bash', args: { cmd: 'git commit -m c' } }, '[main 3] c')
        .assistant('The commits are made.'),
    { tools: ['bash'] },
  ),
  healthy('an explanation begins with a promise and keeps it', (run) =>
    run
      .user('Why is 0.1 + 0.2 not 0.3?')
      .assistant(
        'Let me explain: 0.1 and 0.2 have no exact binary form, so each is rounded, and the sum shows it.',
      ),
  ),
  healthy(
    'an end that looks ahead',
    (run) =>
      run
        .system('You are the support agent.')
        .user('My refund?')
        .tool({ name: 'refund', args: { order: 3 } }, '{"ok":true}')
        .assistant('Your refund is on its way. I will be here if you need anything else.'),
    { tools: ['refund'] },
  ),
  healthy(
    'each call has another time in its system text, and goes well',
    (run) => {
      run.system('Time: 10:00:00. You are a coding agent.').user('Add a test.')
      for (const [at, name] of ['read', 'edit', 'test'].entries()) {
        run.tool({ name, args: { file: 'a.ts' } }, `${name} ok ${at}`)
        run.edit((all) => [
          { role: 'system', content: `Time: 10:0${at + 1}:00. You are a coding agent.` },
          ...all.slice(1),
        ])
      }
      return run.assistant('The test is added.')
    },
    { tools: ['read', 'edit', 'test'] },
  ),
  healthy(
    'a long answer of a writer repeats its motifs',
    (run) =>
      run
        .user('A long speech in the style of a preacher.')
        .assistant(
          [
            'the farmer who rises before the sun',
            'the nurse who stays when all have left',
            'the teacher with chalk on her sleeve',
            'the driver on the road at midnight',
            'the child who shares the last of the bread',
            'the old man who mends what others throw away',
          ]
            .map((who) => `I speak today of ${who}, and I say that this too is a kind of prayer.`)
            .join(' '),
        ),
    { streamed: true },
  ),
  healthy('a schedule in prose with many equal hours', (run) =>
    run
      .user('My shifts of the next twelve days?')
      .assistant(
        Array.from(
          { length: 12 },
          (_, at) =>
            `On day ${at + 1} you work from 9:00 to 17:00${at % 3 === 0 ? ' at the front desk' : at % 3 === 1 ? ' in the store room' : ' on the phone'}.`,
        ).join(' '),
      ),
  ),
  healthy('a chat that answers hello many times', (run) =>
    run
      .user('hi')
      .assistant('Hello! How can I help you today?')
      .user('hi')
      .assistant('Hello! How can I help you today?')
      .user('hello')
      .assistant('Hello! How can I help you today?')
      .user('hey')
      .assistant('Hello! How can I help you today?'),
  ),
  healthy(
    'a sensor gives the same value at each turn of the user',
    (run) => {
      run.system('You are the voice of a house.')
      for (const question of ['How warm is it?', 'And now, how warm is it?']) {
        run
          .user(question)
          .tool({ name: 'temperature', args: { room: 'living' } }, '21.0')
          .assistant('It is 21 degrees.')
      }
      return run
    },
    { tools: ['temperature'] },
  ),
  healthy(
    'a review agent reads, thinks, reads and answers with three sub-questions',
    (run) =>
      run
        .system('You review merge requests.')
        .user('Review !42.')
        .tool({ name: 'get_diff', args: { mr: 42 } }, '+ if (a = b)')
        .tool(
          { name: 'think', args: { thought: 'An assignment in a condition.' } },
          'Your thought has been logged.',
        )
        .tool({ name: 'get_file', args: { path: 'x.js' } }, 'if (a = b) { go() }')
        .tool(
          { name: 'think', args: { thought: 'It changes a.' } },
          'Your thought has been logged.',
        )
        .tool(
          { name: 'think', args: { thought: 'So go() always runs when b is set.' } },
          'Your thought has been logged.',
        )
        .assistant(
          'Line 1 assigns instead of comparing. Was that meant? Is there a test? Who calls go()?',
        ),
    { tools: ['get_diff', 'think', 'get_file'] },
  ),
]
