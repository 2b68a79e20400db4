"""The training process: `python -m deg_core.training.worker JOB.json`, alone or as a rank of torchrun."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from deg_core.contract.errors import DegError
from deg_core.model.allocator import limit_kernels
from deg_core.training.job import TrainJob
from deg_core.training.loop import Trainer

EXIT_REFUSED = 2


def main(path: str) -> int:
    """Train a job; milestones go to standard output, one a line. Returns the exit status."""
    limit_kernels()
    job = TrainJob.model_validate_json(Path(path).read_text())
    if job.settings.nproc > 1 and not torch.cuda.is_available():
        torch.set_num_threads(max(1, torch.get_num_threads() // job.settings.nproc))
    try:
        trainer = Trainer(job, lambda line: print(line, flush=True))
        trainer.train()
    except DegError as error:
        print(f"error: {error}", flush=True)
        return EXIT_REFUSED
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
