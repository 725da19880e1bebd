import { describe, expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { lostContext } from './lost-context.ts'

const french = 'Oui, le livre est sur la table et il est pour vous.'
const english = 'Yes, the book is on the table and it is for you.'

/** A system rule, a first answer that keeps it, and a second one. */
function answered(rule: string, kept: string, then: string, question = 'And then?'): AgentRun {
  return agentRun(rule + then, { tools: ['delete_all', 'look'] })
    .system(`You help. ${rule}`)
    .user('Well?')
    .assistant(kept)
    .user(question)
    .assistant(then)
}

describe('a system rule', () => {
  test.each([
    ['Always answer in French.', french, english],
    ['Respond only with valid JSON.', '{"a":1}', 'The value of a is 1, as it was.'],
    [
      'Always answer in bullet points.',
      '- one\n- two',
      'First there is one and then there is two, so to say.',
    ],
    ['Do not use emojis.', 'Good.', 'Good 🎉'],
    ['Do not use Markdown.', 'Good.', '## Good\n**Very** good.'],
    ['Do not use Markdown.', '2 * 3 * 4 is 24.', 'It is *very* good.'],
    ['Do not use Markdown.', '3 > 2', '> Good.'],
    ['Never use em dashes.', 'Good - and old.', 'Good -- and old.'],
    ['Never use an ellipsis.', 'Good. Old.', 'Good... and old.'],
    [
      'Keep every answer under 10 words.',
      'Good.',
      'This is an answer that has more than the words that it may have.',
    ],
    [
      'Answer in at most two sentences.',
      'One. Two.',
      'One is so. Two is so. Three is so. Four is so.',
    ],
    ['Never use the word "cheap".', 'A fair price.', 'It is cheap and good.'],
    ['Never mention Globex.', 'Yes.', 'Globex does it better.'],
    ['End every answer with "Yours, Ada".', 'Yes. Yours, Ada', 'No, that is not how it works.'],
    ['Use no commas.', 'Good and fine.', 'Good, and fine.'],
    ['Avoid the letter "q".', 'Good.', 'A quick one.'],
    ['No digits in your answers.', 'Two.', 'There are 2 of them.'],
    ['Use the word "tea" exactly twice in each answer.', 'Tea or tea.', 'Tea it is.'],
    ['No headings.', 'Good.', '## Good\nFine.'],
    ['Do not include links.', 'Good.', 'See https://example.com/a for that.'],
    [
      'Reply with code only.',
      '```\na = 1\n```',
      'Here is the code you asked for:\n```\na = 1\n```',
    ],
    ['Reply in CSV only.', 'a,b\n1,2', 'The values of a and b are not known to me.'],
    ['Use title case in every answer.', 'The Good Old Town', 'the good old town was here before'],
    ['Every answer ends with a question.', 'Fine. And you?', 'Fine. Thank you.'],
    ['Write exactly two sentences in each answer.', 'One is so. Two is so.', 'One is so.'],
    ['Use at least three bullet points.', '- a\n- b\n- c', '- a\n- b'],
    ['Put an emoji in each reply.', 'Good 🙂', 'Good.'],
    ['Keep to lowercase.', 'fine.', 'This Is Not Lower Case.'],
    ['Your name is Ada.', 'I am Ada.', 'My name is Bob and I help.'],
    ['Never say that you are an AI.', 'Hello.', 'As an AI language model I can not.'],
  ])('%s', (rule, kept, broken) => {
    expect(foundBy(lostContext, answered(rule, kept, broken))).toMatchObject([
      { type: 'lost_context', severity: 'medium', start_step: 1, end_step: 1, recovered: false },
    ])
    expect(foundBy(lostContext, answered(rule, kept, kept))).toEqual([])
  })

  test('reports the statement, its origin, and the violation', () => {
    const [found] = foundBy(
      lostContext,
      answered('Never use the word "cheap".', 'Yes.', 'It is cheap.'),
    )
    expect(found?.evidence).toMatchObject({
      original_context: 'Never use the word "cheap".',
      violation: expect.stringContaining('It is cheap.'),
      original_trace_id: expect.any(String),
      said_by: 'system',
    })
    expect(found?.wasted_tokens).toBeGreaterThan(0)
  })

  test('that forbids a tool', () => {
    const calls = (name: string) =>
      agentRun(name, { tools: ['delete_all', 'look'] })
        .system('Never call delete_all.')
        .user('Tidy up.')
        .tool({ name, args: {} }, 'done')
        .assistant('Done.')
    expect(foundBy(lostContext, calls('delete_all'))).toMatchObject([
      { severity: 'high', start_step: 0 },
    ])
    expect(foundBy(lostContext, calls('look'))).toEqual([])
  })
})

describe('answers without violation', () => {
  test.each([
    ['code', 'Never use the word "cheap".', 'Use `cheap` here:\n```\ncheap = 1\n```', 'How?'],
    ['a quotation', 'Never use the word "cheap".', 'I do not say "cheap".', 'How?'],
    [
      'a question about the word',
      'Never use the word "cheap".',
      'cheap means of low price.',
      'What does the word "cheap" mean?',
    ],
    [
      'a translation that was asked for',
      'Always answer in French.',
      english,
      'How do you say that in English?',
    ],
    [
      'more detail that was asked for',
      'Answer in at most 5 words.',
      'One two three four five six seven.',
      'Explain more, in detail.',
    ],
    ['a rule with a condition', 'If the user is rude, answer in French.', english, 'And?'],
    [
      'a rule on something else',
      'Keep commit messages under 5 words.',
      'One two three four five six seven eight.',
      'And?',
    ],
    ['a JSON answer in a fence', 'Answer in JSON.', '```json\n{"a":1}\n```', 'And?'],
  ])('%s', (_what, rule, said, question) => {
    expect(
      foundBy(lostContext, answered(rule, said === english ? french : '{}', said, question)),
    ).toEqual([])
  })

  test('a rule for some questions', () => {
    const rule = 'For billing questions, end with "Open 9 to 17".'
    const kept = 'We did. Open 9 to 17'
    expect(foundBy(lostContext, answered(rule, kept, 'It is.', 'Is the site up?'))).toEqual([])
    expect(
      foundBy(lostContext, answered(rule, kept, 'It is.', 'Is this billing date right?')),
    ).toMatchObject([{ start_step: 1 }])
  })

  test('rules that the user lifts or replaces', () => {
    const run = (change: string, then: string) =>
      agentRun(change)
        .user('From now on answer only in French. Où est le livre ?')
        .assistant(french)
        .user(change)
        .assistant(then)
        .user('Thanks. And where is the pen?')
        .assistant('The pen is on the table and it is for you, as the book is.')
    expect(foundBy(lostContext, run('Please switch to English from now on.', english))).toEqual([])
    expect(foundBy(lostContext, run('Merci !', french))).toMatchObject([{ start_step: 2 }])
  })

  test('a cut answer is not measured', () => {
    const run = agentRun('cut')
      .system('Respond only with valid JSON.')
      .user('Well?')
      .assistant({ text: '{"a":', finish_reason: 'length' })
    expect(foundBy(lostContext, run)).toEqual([])
  })
})

test.each([
  ['And then?', 'medium'],
  ['And then? Keep every answer under 10 words.', 'medium'],
  ['Let the next part breathe, I have all evening.', 'low'],
])(
  'a break after a message that may change the rule is of low severity: %s',
  (question, severity) => {
    const [kept, long] = [
      'Good.',
      'This is an answer that has more than the words that it may have.',
    ]
    const run = answered('Keep every answer under 10 words.', kept, long, question)
    expect(foundBy(lostContext, run)).toMatchObject([{ severity }])
  },
)

test('a later answer that keeps the rule lowers the severity', () => {
  const run = answered('Never use the word "cheap".', 'Yes.', 'It is cheap.')
    .user('Oh?')
    .assistant('It is fair.')
  expect(foundBy(lostContext, run)).toMatchObject([{ severity: 'low', recovered: true }])
})

test('asks for something that the user had already said', () => {
  const run = (then: string) =>
    agentRun(then)
      .user('My order number is 4711 and the lamp is broken.')
      .assistant('Would you like a refund?')
      .user('Yes, please.')
      .assistant(then)
  expect(foundBy(lostContext, run('What is your order number?'))).toMatchObject([
    { type: 'lost_context', start_step: 1, evidence: { known: '4711' } },
  ])
  expect(foundBy(lostContext, run('What is your account number?'))).toEqual([])
})

describe('a known value', () => {
  const run = (first: string, then: string, between = 'Yes, please.') =>
    agentRun(first + then + between)
      .user(first)
      .assistant('Would you like a refund?')
      .user(between)
      .assistant(then)
  const two = 'My confirmation is BW-99471 and my e-mail is kim@post.example.'

  test.each([
    ['the second of a sentence', two, 'Which e-mail address did you use?'],
    [
      'with a request in the middle of a sentence',
      two,
      'To help, I need your confirmation number.',
    ],
    ['stated within a question', 'Can I move booking AN-3318?', 'What is your booking code?'],
  ])('is asked for again: %s', (_what, first, then) => {
    expect(foundBy(lostContext, run(first, then))).toMatchObject([{ severity: 'low' }])
  })

  test.each([
    [
      'a proposal about it',
      'My flight is HAT204.',
      'Would you like to proceed with changing your flight to HAT266?',
    ],
    ['a confirmation', 'My flight is HAT204.', 'So your flight is HAT204, right?'],
    ['consent', 'My order number is 4711.', 'Is it fine if I cancel your order?'],
  ])('is not asked for by %s', (_what, first, then) => {
    expect(foundBy(lostContext, run(first, then))).toEqual([])
  })

  test('is asked again only if the user changes it', () => {
    const ask = 'What is your order number?'
    const order = 'My order number is 4711.'
    expect(foundBy(lostContext, run(order, ask, 'I need a receipt too, please.'))).toHaveLength(1)
    expect(foundBy(lostContext, run(order, ask, 'There is a mistake in my order.'))).toEqual([])
    expect(foundBy(lostContext, run(order, ask, 'I have another parcel.'))).toEqual([])
  })
})

test('the minimum confidence is a setting', () => {
  const run = answered('Never use the word "cheap".', 'Yes.', 'It is cheap.')
  expect(foundBy(lostContext, run, { confidence_min: 0.99 })).toEqual([])
})

/** What the user says, a look at it, the user's next words, and the agent's second answer. */
const again = (said: string, look: Record<string, unknown>, then: string, asks: string) =>
  agentRun(said + asks, { tools: ['look'] })
    .user(said)
    .tool({ name: 'look', args: look }, '{"state":"active"}')
    .assistant('It is active.')
    .user(then)
    .assistant(asks)

describe('a rule of the user that each answer breaks from some message on', () => {
  const rule = 'Please answer without bullet points from now on.'
  const list = 'Sure:\n- one\n- two\n- three'
  const kept = (then: string) =>
    agentRun('What is a fen?')
      .assistant('A wet meadow.')
      .user(rule)
      .assistant('All right.')
      .user(then)

  test('has probably ended, in words that are not read', () => {
    const run = kept('Go wild with the layout for the summary and the notes.')
      .assistant(list)
      .user('And the notes?')
      .assistant(list)
    expect(foundBy(lostContext, run)).toEqual([])
  })

  test('is broken if a later answer keeps it', () => {
    const run = kept('Which birds live there?')
      .assistant(list)
      .user('And fish?')
      .assistant('Pike and tench.')
    expect(foundBy(lostContext, run)).toMatchObject([{ type: 'lost_context', severity: 'low' }])
  })

  test('is broken each time if it forbids a tool', () => {
    const run = agentRun('Hello.', { tools: ['delete_all', 'list'] })
      .assistant('Hello!')
      .user('Never call delete_all.')
      .assistant('All right.')
      .user('Clean up the first folder.')
      .tool({ name: 'delete_all', args: { folder: 1 } }, 'gone')
      .assistant('Done.')
      .user('And the second.')
      .tool({ name: 'delete_all', args: { folder: 2 } }, 'gone')
      .assistant('Done.')
    expect(foundBy(lostContext, run)).toMatchObject([{ severity: 'high' }])
  })

  test('is broken in the last answer', () => {
    const run = kept('Which birds live there?').assistant(list)
    expect(foundBy(lostContext, run)).toMatchObject([{ severity: 'medium' }])
  })
})

test.each(['It is 77120.', 'I already told you!', 'I told you that at the start.'])(
  'an answered question is of medium severity if the user says it again: %s',
  (reply) => {
    const run = again('Order 77120 is broken', { id: '77120' }, 'ok', 'What is your order number?')
    expect(foundBy(lostContext, run)).toMatchObject([{ severity: 'low' }])
    expect(foundBy(lostContext, run.user(reply).assistant('Thanks.'))).toMatchObject([
      { severity: 'medium' },
    ])
  },
)

const manySentences = 'One is so. Two is so. Three is so. Four is so.'

test('a lasting rule that the first of several answers broke is probably none', () => {
  const rule = 'Answer in at most two sentences.'
  const alone = agentRun('one answer').system(rule).user('Why?').assistant(manySentences)
  expect(foundBy(lostContext, alone)).toMatchObject([{ severity: 'low' }])
  expect(foundBy(lostContext, answered(rule, manySentences, `And so. ${manySentences}`))).toEqual(
    [],
  )
  expect(foundBy(lostContext, answered(rule, manySentences, 'One.'))).toEqual([])
  expect(foundBy(lostContext, answered(rule, 'One.', manySentences))).toMatchObject([
    { severity: 'medium', evidence: { kept_before: 1 } },
  ])
})

test.each([
  'Too long. From now on answer in at most two sentences. Why is it so?',
  'Now explain it in at most two sentences.',
])('a rule that the user gives after an answer is a reply to it: %s', (rule) => {
  const run = agentRun(rule).user('Why?').assistant(manySentences).user(rule)
  expect(foundBy(lostContext, run.assistant(manySentences))).toMatchObject([
    { severity: 'medium', evidence: { kept_before: 0 } },
  ])
})

describe('a value that the user gave and the agent used', () => {
  test.each([
    [
      'Order 77120 is broken',
      { id: '77120' },
      'refund pls',
      'Could you share your order number again?',
    ],
    [
      'mail is rosa@post.example',
      { m: 1 },
      'Mill Lane 4',
      'And which e-mail are you registered with?',
    ],
    [
      'My policy is HX-20931.',
      { p: 1 },
      'nobody hurt',
      "To file it I'd need your policy number, please.",
    ],
    [
      'a/c 5520 7781, raise my limit',
      { a: 1 },
      'Yes.',
      "I'll just need your account number to proceed.",
    ],
    ['Hello, this is Priya Nair.', { q: 1 }, 'please', 'What name should I put it under?'],
    [
      'Kundennummer 88123',
      { nr: '88123' },
      'ja',
      'Können Sie mir bitte noch einmal Ihre Kundennummer mitteilen?',
    ],
    [
      'mon colis FR55120',
      { colis: 'FR55120' },
      'bon',
      'Pourriez-vous me communiquer votre numéro de colis ?',
    ],
    [
      'contrato 558-201',
      { contrato: '558-201' },
      'sí',
      '¿Me indica su número de contrato, por favor?',
    ],
    ['我的订单 A-9912', { q: 1 }, '好', '请提供您的订单号。'],
  ])('is asked for again: %s', (said, look, then, asks) => {
    expect(foundBy(lostContext, again(said, look, then, asks))).toMatchObject([
      { severity: 'low', type: 'lost_context' },
    ])
  })

  test.each([
    [
      'Order 77120 is broken',
      { id: '77120' },
      'and more',
      'What is the number of the other order?',
    ],
    ['My policy is HX-20931.', { p: 1 }, 'ok', "What is the other driver's policy number?"],
    ['this is Priya Nair', { q: 1 }, 'my husband comes', "What is your husband's name?"],
    ['my email is kim@post.example', { q: 1 }, 'ok', 'Shall I send it by e-mail?'],
    ["I don't know my order number", { q: 1 }, 'ok', 'What is your order number?'],
  ])('is not asked for: %s %j %s %s', (said, look, then, asks) => {
    expect(foundBy(lostContext, again(said, look, then, asks))).toEqual([])
  })
})

/** A wish, a list, the user's last words, and the call that chooses. */
const chosen = (wish: string, list: string, last: string, call: Record<string, unknown>) =>
  agentRun(wish + last + JSON.stringify(call), { tools: ['find', 'book'] })
    .user(wish)
    .tool({ name: 'find', args: { q: 'all' } }, list)
    .assistant('There are two.')
    .user(last)
    .tool({ name: 'book', args: call }, 'ok')
    .assistant('Booked.')

const rooms =
  '[{"id":"r1","area":"terrace","price":145,"pets":false},{"id":"r2","area":"indoors","price":110,"pets":true}]'
const diets = 'm1: Nuts & seeds muesli, 4.10\nm2: Fruit muesli, 3.90'

describe('what the user needs, of the things in a list', () => {
  test.each([
    ['At most 120 a night.', rooms, 'take one', 'r1'],
    ["I mustn't spend more than 120.", rooms, 'take one', 'r1'],
    ['My son has a nut allergy.', diets, 'pick one', 'm1'],
    ['We need a room with pets.', rooms, 'take one', 'r1'],
  ])('is lost: %s', (wish, list, last, id) => {
    const [found] = foundBy(lostContext, chosen(wish, list, last, { id }))
    expect(found).toMatchObject({ severity: 'medium', evidence: { original_context: wish } })
  })

  test('is perhaps lost if the chosen one only lacks a word of the wish', () => {
    const run = chosen('It must be inside, pollen!', rooms, 'take one', { id: 'r1' })
    expect(foundBy(lostContext, run)).toMatchObject([{ severity: 'low' }])
  })

  test.each([
    ['It must be inside, pollen!', rooms, 'take one', 'r2'],
    ['It must be inside, pollen!', rooms, 'then the terrace', 'r1'],
    ['About 120 a night.', rooms, 'take one', 'r1'],
    ['Inside would be nice.', rooms, 'take one', 'r1'],
    ["I don't need it inside.", rooms, 'take one', 'r1'],
    ['At most 120 a night.', rooms, "I'll pay more", 'r1'],
  ])('is kept: %s, %s', (wish, list, last, id) => {
    expect(foundBy(lostContext, chosen(wish, list, last, { id }))).toEqual([])
  })

  const forbidden = (said: string, then: string) =>
    agentRun(said + then, { tools: ['cancel_order'] })
      .user(said)
      .assistant('I see.')
      .user(then)
      .tool({ name: 'cancel_order', args: { id: 5 } }, 'ok')
      .assistant('So.')

  test('a call that the user forbade, until the user asks for it', () => {
    const run = forbidden("Whatever you do, don't cancel it.", 'fix that')
    expect(foundBy(lostContext, run)).toMatchObject([{ severity: 'low' }])
    const objected = run.user('I told you already!').assistant('Sorry.')
    expect(foundBy(lostContext, objected)).toMatchObject([{ severity: 'medium' }])
    for (const [said, then] of [
      ["Don't cancel it.", 'ok then do cancel'],
      ["Don't cancel it if it was shipped.", 'fix that'],
      ["I can't cancel it myself.", 'fix that'],
    ] as const) {
      expect(foundBy(lostContext, forbidden(said, then))).toEqual([])
    }
  })
})

describe('a reply that says nothing new', () => {
  const asked = (first: string, question: string, reply: string) =>
    agentRun(first + question + reply)
      .user(first)
      .assistant('Row 2 is near the door. Shall I move you?')
      .user('yes')
      .assistant(question)
      .user(reply)
      .assistant('Done.')

  test.each([
    ['My dog has 14 kg.', 'How heavy is your dog?', '14 kilos', 'low'],
    ['My dog has 14 kg.', 'How heavy is your dog?', '14 kilos as I said', 'medium'],
    ['Mein Zähler steht auf 22.318.', 'Was zeigt der Zähler?', '22318, steht oben', 'medium'],
    [
      'Invoice to Frick Metallbau please.',
      'What should be on the invoice?',
      'Frick Metallbau',
      'low',
    ],
  ])('%s %s %s', (first, question, reply, severity) => {
    expect(foundBy(lostContext, asked(first, question, reply))).toMatchObject([{ severity }])
  })

  test.each([
    ['My dog is small.', 'How heavy is your dog?', '14 kilos'],
    ['I am free on Monday 14 or Tuesday 15.', 'Which one suits you, 14 or 15?', '14'],
    ['My dog has 14 kg.', 'Is 14 kg right?', 'yes 14 kg'],
    ['I have 14 dogs.', 'How heavy is your dog?', '14 kilos, and what about cats?'],
  ])('healthy: %s %s %s', (first, question, reply) => {
    expect(foundBy(lostContext, asked(first, question, reply))).toEqual([])
  })
})

test.each([
  ['I need an aisle seat.', 'aisle', 0],
  ['I need an aisle seat.', 'window', 1],
  ['I need an aisle seat. A window would do too.', 'window', 0],
])('a choice that the system text names: %s %s', (said, seat, findings) => {
  const run = agentRun(said + seat, { tools: ['buy_ticket'] })
    .system('Seats: window or aisle.')
    .user(said)
    .tool({ name: 'buy_ticket', args: { seat } }, 'ok')
    .assistant('Bought.')
  expect(foundBy(lostContext, run)).toHaveLength(findings)
})

describe('a rule that only a classifier read', () => {
  const rule = 'Asterisks for bold come out as noise in the screen reader.'

  test('is reported as low once an answer has kept it, with its reader', () => {
    const [finding] = foundBy(lostContext, answered(rule, 'Good.', 'That is **good**.'))
    expect(finding).toMatchObject({
      severity: 'low',
      evidence: { slot: 'bold', expected: 'none', read_by: 'classifier' },
    })
    expect(finding?.confidence).toBeLessThan(0.7)
  })

  test('is a rule like others once it is said in a known wording', () => {
    const run = agentRun('said again')
      .system(`You help. ${rule}`)
      .user('Well?')
      .assistant('Good.')
      .system('Never use bold.')
      .user('And then?')
      .assistant('Fine.')
      .user('And now?')
      .assistant('That is **good**.')
    const [finding] = foundBy(lostContext, run)
    expect(finding?.severity).toBe('medium')
    expect(finding?.evidence).not.toHaveProperty('read_by')
  })

  test('is not reported if no answer kept it', () => {
    expect(foundBy(lostContext, answered(rule, 'All **good**.', 'That is **good**.'))).toEqual([])
  })
})
