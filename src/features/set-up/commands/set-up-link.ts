import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { CommandContext } from '../../../platform/command-line/command.ts'
import { configuredUrl } from '../../../platform/http/bound-url.ts'
import type { SetUpService } from '../set-up.create.ts'

export async function printSetUpLink({ config, open }: CommandContext<SetUpService>): Promise<void> {
  const { publicUrl, host, port } = config.server
  if (publicUrl === undefined && port === 0) {
    throw new FatalError('server.port is 0, so the address is not known; set PUBLIC_URL', exitCodes.usage)
  }
  const { service, close } = await open()
  try {
    const link = await service.createLink(publicUrl ?? configuredUrl({ host, port }))
    if (link.kind === 'has_administrator') {
      throw new FatalError('there is an administrator already; user:roles gives others the role', exitCodes.failure)
    }
    if (link.kind === 'no_role') throw new FatalError('no role of auth.roles holds "*"', exitCodes.failure)
    process.stdout.write(`${link.url}\n`)
  } finally {
    await close()
  }
}
