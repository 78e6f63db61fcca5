"""A host that is reached by ssh: a server on loopback that runs commands, without asking who calls."""

import asyncio
import contextlib
import os
import signal
import threading

from processes import HANG_SECONDS, environment


class SshHost:
    """A server in a thread of its own; what it started is killed when its caller hangs up."""

    def __init__(self):
        self.port, self.commands, self.children = 0, [], []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def open(self) -> None:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(60)

    async def _listen(self) -> None:
        import asyncssh

        class Server(asyncssh.SSHServer):
            def begin_auth(self, username):
                return False

        keys = [asyncssh.generate_private_key("ssh-ed25519")]
        self._server = await asyncssh.listen(
            "127.0.0.1", 0, server_factory=Server, server_host_keys=keys, process_factory=self._run
        )
        self.port = self._server.get_port()

    async def _run(self, process) -> None:
        """Run a command until it ends, or until the channel does."""
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_shell(
            process.command, stdout=pipe, stderr=pipe, env=environment(), start_new_session=True
        )
        self.commands.append(process.command)
        self.children.append(child)
        await process.redirect(stdout=child.stdout, stderr=child.stderr)
        waits = [asyncio.create_task(child.wait()), asyncio.create_task(process.channel.wait_closed())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        await child.wait()
        with contextlib.suppress(OSError):
            process.exit(child.returncode)

    def wait_for_children(self) -> None:
        async def wait() -> None:
            for child in self.children:
                await child.wait()

        asyncio.run_coroutine_threadsafe(wait(), self._loop).result(HANG_SECONDS)

    def close(self) -> None:
        """Listen no more, and kill what is left."""
        for child in self.children:
            if child.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
