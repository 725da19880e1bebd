import { describe } from 'vitest'
import { verdictSuite } from '../support/agents/verdict-suite.ts'
import { singleMachineShape } from '../support/clients/client-shape.ts'

describe('verdicts of role all', () => verdictSuite(singleMachineShape))
