import { ill, type LabelledRun, loop } from './labelled-run.ts'

const may = ['premature_stop']
const status =
  'The migration of the customer table is prepared and the backup has been written to the archive; ' +
  'next I am going to switch the writers over to the new table, check that the counts agree, ' +
  'and then remove the old table after the agreed waiting time of'

/** A model that talks to itself, and answers that stutter. */
export const talkRuns: readonly LabelledRun[] = [
  ill(
    'an agent announces four times and does nothing',
    [loop('monologue')],
    (run) =>
      run
        .system('You are a coding agent. Work until it is done.')
        .user('Create hello.txt.')
        .mark()
        .times(4, (agent) => agent.assistant('I will now create the file hello.txt.')),
    { tools: ['write_file'], may },
  ),
  ill(
    'a report of which one word changes',
    [loop('monologue')],
    (run) => {
      const days = ['three days', 'four days', 'five days', 'six days', 'two days']
      run.system('You run migrations.').user('Migrate the customer table.')
      run.tool({ name: 'backup', args: { table: 'customer' } }, 'written').mark()
      return run.times(5, (agent, at) => agent.assistant(`${status} ${days[at]}.`))
    },
    { tools: ['backup', 'switch_writers'], model: 'gpt-4o', may },
  ),
  ill(
    'the same Japanese sentence three times',
    [loop('monologue')],
    (run) =>
      run
        .system('あなたは旅行アシスタントです。')
        .user('京都の旅館を予約してください。')
        .tool({ name: 'search_ryokan', args: { city: '京都' } }, '[{"id":1,"name":"花の宿"}]')
        .mark()
        .times(3, (agent) => agent.assistant('花の宿の空室を確認しています。少々お待ちください。'))
        .tool({ name: 'book_ryokan', args: { id: 1 } }, '{"ok":true}')
        .assistant('花の宿を予約しました。'),
    { streamed: true, may },
  ),
  ill(
    'a planner says it louder',
    [loop('monologue')],
    (run) =>
      run
        .user('Plan the garden party.')
        .mark()
        .assistant('First, I need to think about the guests.')
        .assistant('FIRST, I need to think about the guests!')
        .assistant('First,  I need to think about the guests...')
        .assistant('Guests: 20. Food: grill. Drinks: punch. Rain: tent.'),
    { source: 'otlp', may },
  ),
  ill(
    'a sub-agent waits for itself',
    [loop('monologue')],
    (run) =>
      run
        .system('You lead a team.')
        .user('Summarise both reports.')
        .assistant({
          calls: [
            { name: 'delegate', args: { to: 'a' } },
            { name: 'delegate', args: { to: 'b' } },
          ],
        })
        .parallel(
          (one) =>
            one.system('You summarise. Report A').user('Report A').assistant('A says: sales rose.'),
          (two) =>
            two
              .system('You summarise. Report B')
              .user('Report B')
              .mark()
              .times(4, (agent) => agent.assistant('I am waiting for the report to load.'))
              .assistant('B says: costs fell.'),
        )
        .results(['A says: sales rose.', 'B says: costs fell.'])
        .assistant('Sales rose and costs fell.'),
    { may },
  ),
  ill(
    'a help desk repeats that it is on it',
    [loop('monologue')],
    (run) =>
      run
        .system('Du bist der Kundendienst.')
        .user('Mein Router blinkt rot.')
        .mark()
        .times(3, (agent) =>
          agent.assistant('Ich prüfe jetzt Ihre Leitung und melde mich gleich.'),
        ),
    { source: 'otlp_openinference', may },
  ),
]

const chantMay = ['output_truncated', 'refusal', 'premature_stop']
const lorem =
  'The committee met again on Monday, took note of the report and decided to meet once more. '

/** One answer that repeats the same text. */
export const chantRuns: readonly LabelledRun[] = [
  ill(
    'an apology without an end',
    [loop('content_chant')],
    (run) =>
      run
        .user('What is the phone number of the mayor?')
        .mark()
        .assistant({
          text: `The number is not public. ${'I am sorry, but I can not help with that at the moment. '.repeat(30)}`,
          finish_reason: 'length',
        }),
    { may: chantMay },
  ),
  ill(
    'a story that is caught in one sentence',
    [loop('content_chant')],
    (run) =>
      run
        .system('You write stories for children.')
        .user('A story of a fox and a well.')
        .mark()
        .assistant({
          text: `A fox came to a well one hot day. ${'The fox looked into the well and saw the moon shine in the water below. '.repeat(25)}`,
          finish_reason: 'length',
        }),
    { streamed: true, model: 'gpt-4o', may: chantMay },
  ),
  ill(
    'three sentences of minutes, twelve times',
    [loop('content_chant')],
    (run) =>
      run
        .user('Write the minutes of the meeting.')
        .mark()
        .assistant(
          `Minutes of the meeting.\n\n${(`${lorem}Nobody objected to it. The chair thanked all who were there.\n`).repeat(14)}`,
        ),
    { source: 'otlp', may: chantMay },
  ),
  ill(
    'a German letter that stutters',
    [loop('content_chant')],
    (run) =>
      run
        .system('Du schreibst Briefe.')
        .user('Schreibe eine Kündigung meines Vertrags zum Jahresende.')
        .mark()
        .assistant(
          `Sehr geehrte Damen und Herren, hiermit kündige ich. ${'Bitte bestätigen Sie mir den Eingang dieses Schreibens schriftlich und zeitnah. '.repeat(20)}Mit freundlichen Grüßen`,
        ),
    { may: chantMay },
  ),
  ill(
    'one word until the limit',
    [loop('content_chant')],
    (run) =>
      run
        .user('Translate "buffalo" into English.')
        .mark()
        .assistant({ text: 'buffalo '.repeat(400), finish_reason: 'length' }),
    { source: 'otlp_openinference', may: chantMay },
  ),
  ill(
    'reasoning that turns on the spot after a tool',
    [loop('content_chant')],
    (run) =>
      run
        .system('Think aloud, then answer.')
        .user('Is 2,027 a prime number?')
        .tool({ name: 'calc', args: { expr: 'sqrt(2027)' } }, '45.02')
        .mark()
        .assistant(
          `So we test up to 45. ${'Wait, let me check that again: 2027 divided by 3 is not whole, so we go on. '.repeat(18)}Yes, it is prime.`,
        ),
    { streamed: true, tools: ['calc'], may: chantMay },
  ),
]
