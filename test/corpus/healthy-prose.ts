import { healthy, type LabelledRun } from './labelled-run.ts'

const rows = Array.from(
  { length: 30 },
  (_, at) => `| Product ${at + 1} | in stock | 10 pieces | no remarks |`,
)
const song =
  'Row, row, row your boat,\nGently down the stream,\nMerrily, merrily, merrily, merrily,\nLife is but a dream.\n\n'

/** Answers that repeat because their subject repeats. */
export const proseRuns: readonly LabelledRun[] = [
  healthy('a table with thirty rows alike', (run) =>
    run
      .user('Show the stock.')
      .assistant(`| name | state | count | remarks |\n|---|---|---|---|\n${rows.join('\n')}`),
  ),
  healthy('a list of equal chores', (run) =>
    run
      .user('A cleaning plan for three weeks, every day the kitchen.')
      .assistant(
        Array.from(
          { length: 21 },
          (_, at) => `- Day ${at + 1}: clean the kitchen, wipe the table and take out the rubbish`,
        ).join('\n'),
      ),
  ),
  healthy(
    'code with a lookup table',
    (run) =>
      run
        .user('An array of 300 zeros in C.')
        .assistant(
          `\`\`\`c\nint table[300] = {\n${'  0, 0, 0, 0, 0, 0, 0, 0, 0, 0,\n'.repeat(30)}};\n\`\`\``,
        ),
    { streamed: true },
  ),
  healthy('a song with its refrain', (run) =>
    run.user('Sing it four times.').assistant(song.repeat(4)),
  ),
  healthy(
    'a poem that begins each line alike',
    (run) =>
      run
        .user('A poem of ten lines that all begin with "I remember".')
        .assistant(
          [
            'the sea',
            'a door of blue',
            'my mother’s hands',
            'the first of snow',
            'bread at dawn',
            'a train to Rome',
            'the smell of rain',
            'one word of you',
            'the empty street',
            'how long it was',
          ]
            .map((what) => `I remember ${what},`)
            .join('\n'),
        ),
    { source: 'otlp' },
  ),
  healthy('rules between chapters', (run) =>
    run
      .user('An outline with lines between.')
      .assistant(
        Array.from({ length: 12 }, (_, at) => `Chapter ${at + 1}\n${'-'.repeat(80)}`).join('\n'),
      ),
  ),
  healthy('JSON with many objects alike', (run) =>
    run
      .system('Answer with JSON only.')
      .user('Twenty test users.')
      .assistant(
        JSON.stringify(
          Array.from({ length: 20 }, (_, at) => ({
            id: at,
            name: 'Test User',
            role: 'viewer',
            active: true,
            plan: 'basic',
          })),
        ),
      ),
  ),
  healthy('a dialogue with short turns', (run) =>
    run
      .user('Write a dialogue of a knock-knock joke.')
      .assistant(
        'Knock, knock.\nWho’s there?\nLettuce.\nLettuce who?\nLettuce in, it’s cold out here!',
      ),
  ),
  healthy(
    'the user wants a line written twenty times',
    (run) =>
      run
        .user('Write "I will not talk in class" as a numbered list, 20 times.')
        .assistant(
          Array.from({ length: 20 }, (_, at) => `${at + 1}. I will not talk in class`).join('\n'),
        ),
    { streamed: true },
  ),
  healthy('a drawing in signs', (run) =>
    run
      .user('Draw a chess board.')
      .assistant(`\`\`\`\n${'# . # . # . # .\n. # . # . # . #\n'.repeat(4)}\`\`\``),
  ),
  healthy(
    'a CSV in a fence',
    (run) =>
      run
        .user('Sample data: 40 rows of sensor readings.')
        .assistant(
          `Here you are:\n\`\`\`csv\n${Array.from({ length: 40 }, (_, at) => `2026-09-21,sensor-a,ok,20.${at % 3}`).join('\n')}\n\`\`\``,
        ),
    { source: 'otlp_openinference' },
  ),
  healthy('OK, nine times over', (run) => {
    const orders = [
      'Light on.',
      'Heating to 20.',
      'Music off.',
      'Door shut.',
      'Light off.',
      'Blinds down.',
      'Alarm at 7.',
      'Fan on.',
      'Good night.',
    ]
    run.system('You steer a house. Confirm with one word.')
    for (const order of orders) run.user(order).assistant('OK.')
    return run
  }),
  healthy(
    'a classifier says the same for each text',
    (run) => {
      run.system('Classify each review as positive or negative.')
      for (const text of ['Great!', 'Love it.', 'Works well.', 'Super.', 'Top!'])
        run.user(text).assistant('positive')
      return run
    },
    { source: 'otlp' },
  ),
  healthy(
    'a short confirmation after each tool',
    (run) => {
      run.system('You fill in forms.').user('Fill in all six fields.')
      return run
        .times(6, (agent, at) =>
          agent.tool(
            {
              name: 'fill',
              args: { field: `f${at}`, value: at },
              text: 'Filling in the next field.',
            },
            `f${at} set`,
          ),
        )
        .assistant('All six fields are filled in.')
    },
    { tools: ['fill'] },
  ),
  healthy('an answer that was cut goes on', (run) =>
    run
      .user('Tell me all about bees.')
      .assistant({
        text: 'Bees live in colonies of up to fifty thousand, and each of',
        finish_reason: 'length',
      })
      .user('continue')
      .assistant('them has a task: some feed the young, some build and some fetch nectar.'),
  ),
  healthy(
    'a cut answer is taken up by the client itself',
    (run) =>
      run
        .system('You write articles.')
        .user('Write on tides.')
        .assistant({
          text: 'The tides follow the moon. Twice a day the water',
          finish_reason: 'length',
        })
        .assistant('rises and falls, and the sun adds its part.'),
    { streamed: true },
  ),
  healthy('nothing to say between tools', (run) =>
    run
      .user('Note a, b and c.')
      .tool({ name: 'note', args: { t: 'a' }, text: '' }, 'ok')
      .tool({ name: 'note', args: { t: 'b' }, text: '' }, 'ok')
      .tool({ name: 'note', args: { t: 'c' }, text: '' }, 'ok')
      .assistant('Noted.'),
  ),
  healthy('a refusal that is right is no apology', (run) =>
    run
      .user('Why do people say "I can’t help with that"?')
      .assistant(
        'People say "I’m sorry, I can’t help with that" when they lack the time, the means or the right to help.',
      ),
  ),
]
