import { context, ill, type LabelledRun } from './labelled-run.ts'

const may = ['contradicted_fact', 'repeated_question']

/** Instructions and facts that later answers forget. */
export const lostContextRuns: readonly LabelledRun[] = [
  ill('German was asked for and English came', [context('lost_context')], (run) =>
    run
      .system('Du bist ein Assistent. Antworte immer auf Deutsch.')
      .user('Was ist ein Quasar?')
      .assistant(
        'Ein Quasar ist der sehr helle Kern einer fernen Galaxie, in deren Mitte ein schwarzes Loch sitzt.',
      )
      .user('Und wie weit ist der nächste entfernt?')
      .mark()
      .assistant(
        'The nearest known quasar is about six hundred million light years away from the Earth.',
      ),
  ),
  ill(
    'French is forgotten after a tool answered in English',
    [context('lost_context')],
    (run) =>
      run
        .system('Reply only in French.')
        .user('Quel temps fait-il à Lille ?')
        .tool(
          { name: 'weather', args: { city: 'Lille' } },
          'Light rain, 14 degrees, wind from the west',
        )
        .mark()
        .assistant('There is light rain in Lille today with 14 degrees and a wind from the west.'),
    { tools: ['weather'], streamed: true },
  ),
  ill(
    'the user asked for Spanish from now on',
    [context('lost_context')],
    (run) =>
      run
        .user('Please answer in Spanish from now on. How do I cook rice?')
        .assistant(
          'Lava el arroz, añade dos partes de agua y cuécelo a fuego lento durante quince minutos.',
        )
        .user('¿Y las lentejas?')
        .mark()
        .assistant(
          'Rinse the lentils, cover them with plenty of water and let them simmer for twenty-five minutes.',
        ),
    { source: 'otlp' },
  ),
  ill('JSON only, and then prose', [context('lost_context')], (run) =>
    run
      .system('Answer with a JSON object only, no other text.')
      .user('Sentiment of "I love it"?')
      .assistant('{"sentiment":"positive"}')
      .user('Sentiment of "It broke after a day"?')
      .mark()
      .assistant('The sentiment of this review is negative, because the product broke.'),
  ),
  ill(
    'bullets were agreed on',
    [context('lost_context')],
    (run) =>
      run
        .system('Always answer as a bulleted list.')
        .user('What do I need for pancakes?')
        .assistant('- flour\n- milk\n- eggs\n- salt')
        .user('And for waffles?')
        .mark()
        .assistant(
          'For waffles you need flour, milk, eggs, butter and a little sugar. Mix all of it and bake it.',
        ),
    { source: 'otlp_openinference' },
  ),
  ill('fifty words at most', [context('lost_context')], (run) =>
    run
      .system('Keep every answer under 50 words.')
      .user('What is photosynthesis?')
      .assistant('Plants use light to make sugar from water and carbon dioxide.')
      .user('And respiration?')
      .mark()
      .assistant(
        'Respiration is the process in which cells break down sugar with the help of oxygen in order to release energy that the organism can use for growth, movement and repair. It happens in the mitochondria, takes place in several stages, among them glycolysis, the citric acid cycle and the electron transport chain, and gives off carbon dioxide and water, which the organism then breathes out or passes on to its surroundings in other ways.',
      ),
  ),
  ill(
    'one sentence was asked for',
    [context('lost_context')],
    (run) =>
      run
        .user('Answer in one sentence from now on. Who was Ada Lovelace?')
        .assistant('Ada Lovelace was an English mathematician who wrote the first program.')
        .user('Who was Grace Hopper?')
        .mark()
        .assistant(
          'Grace Hopper was an American computer scientist. She built the first compiler. She also worked on COBOL. In the navy she rose to rear admiral. A ship bears her name.',
        ),
    { streamed: true },
  ),
  ill('a word that must not be used', [context('lost_context')], (run) =>
    run
      .system('You write advertisements. Never use the word "cheap".')
      .user('A line for our shoes.')
      .assistant('Light as air: walk on clouds for a fair price.')
      .user('And one for the socks.')
      .mark()
      .assistant('Soft, warm and cheap: socks for every day.'),
  ),
  ill(
    'an emoji-free zone and a forbidden name',
    [context('lost_context')],
    (run) =>
      run
        .system('You are the help desk of Acme. Do not mention "Globex".')
        .user('How do I export my data?')
        .assistant('Open the settings and choose "Export".')
        .user('Can I import from elsewhere?')
        .mark()
        .assistant('Yes, you can import the files that Globex and others write, under "Import".'),
    { source: 'otlp' },
  ),
  ill('every answer ends with the number of the hotline', [context('lost_context')], (run) =>
    run
      .system(
        'You answer questions on insurance. Every answer must include the phrase "This is no legal advice".',
      )
      .user('Is hail insured?')
      .assistant('Yes, hail is insured. This is no legal advice.')
      .user('And floods?')
      .mark()
      .assistant('Floods are insured if you chose the option for natural hazards.'),
  ),
  ill(
    'a citation in each answer',
    [context('lost_context')],
    (run) =>
      run
        .system('Always include "Source:" in your answer.')
        .user('How high is the Zugspitze?')
        .assistant('2,962 m. Source: survey office.')
        .user('And the Watzmann?')
        .mark()
        .assistant('The Watzmann is 2,713 m high.'),
    { streamed: true },
  ),
  ill(
    'the pirate becomes a language model',
    [context('lost_context')],
    (run) =>
      run
        .system(
          'You are Captain Flint, a pirate. Never say that you are an AI and stay in character.',
        )
        .user('Who are you?')
        .assistant('Captain Flint, terror of the seas, arr!')
        .user('Where do you live?')
        .mark()
        .assistant('As an AI language model, I do not have a home.'),
    { may: ['refusal'] },
  ),
  ill(
    'the order number is asked for though it was told',
    [context('lost_context')],
    (run) =>
      run
        .system('You are the support agent of a shop.')
        .user('Hi, my order number is 4711 and the lamp is broken.')
        .assistant('I am sorry to hear that. Would you like a refund or a new lamp?')
        .user('A new lamp, please.')
        .mark()
        .assistant('Gladly. What is your order number?'),
    { may },
  ),
  ill(
    // The time of the train is invented, but times are not checked: too many marks were wrong.
    'the date of the journey is asked for again',
    [context('lost_context')],
    (run) =>
      run
        .system('You book trains.')
        .user('I need a train from Basel to Milan. My travel date is 14 March.')
        .tool({ name: 'find_trains', args: { from: 'Basel', to: 'Milan' } }, '[{"id":"EC51"}]')
        .assistant('EC 51 runs at 8:28. Shall I book it?')
        .user('Yes, please.')
        .mark()
        .assistant('What is your travel date?'),
    { tools: ['find_trains', 'book'], streamed: true, may },
  ),
  ill(
    'a tool that must not be used',
    [context('lost_context')],
    (run) =>
      run
        .system('You are a database agent. Never use the tool drop_table.')
        .user('Tidy up the test tables.')
        .tool({ name: 'list_tables' }, 'test_a, test_b, users')
        .mark()
        .tool({ name: 'drop_table', args: { name: 'test_a' } }, 'dropped')
        .assistant('test_a is gone.'),
    { tools: ['list_tables', 'drop_table'] },
  ),
]
