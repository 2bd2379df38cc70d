from study_fixtures import finished, micro, recorder, results, small_file, write_study

__all__ = ["finished", "micro", "recorder", "results", "small_file", "write_study"]
