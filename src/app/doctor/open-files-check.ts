import { describeLowLimit, findOpenFileLimit } from '../../platform/process/open-files.ts'
import { type Finding, judge } from './finding.ts'

export function checkOpenFiles(): Finding {
  const limit = findOpenFileLimit()
  const problem = describeLowLimit(limit)
  return judge('open_files', {
    isFine: problem === undefined,
    fine: limit === undefined ? 'the system does not tell how many files may be open' : `${limit} files may be open`,
    otherwise: ['warning', problem ?? ''],
  })
}
